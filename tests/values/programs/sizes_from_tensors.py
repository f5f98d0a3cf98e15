"""Sizes computed with tensors on the device, as exported and traced code does"""

import sys

import torch
import torch.nn.functional as F

device = sys.argv[1]
torch.manual_seed(0)
image = torch.randn(1, 2, 10, 14).to(device)
size = torch.tensor(image.shape[-2:], device=device)
scale = torch.tensor(1.5, device=device)
scaled = (size * scale).floor().long()
print(
    "scaled",
    tuple(F.interpolate(image, size=(int(scaled[0]), int(scaled[1]))).shape),
    tuple(F.interpolate(image, size=scaled.tolist()).shape),
)
window = torch.tensor(4, device=device)
padding = (window - size % window) % window
padded = F.pad(image, (0, int(padding[1]), 0, int(padding[0])))
height, width = torch.div(torch.tensor(padded.shape[-2:], device=device), window, rounding_mode="floor")
print("padded", tuple(padded.shape), "windows", int(height), int(width))
windows = padded.reshape(1, 2, height, 4, width, 4).permute(0, 2, 4, 1, 3, 5).reshape(-1, 2, 4, 4)
print("windows", tuple(windows.shape))
heads = torch.floor_divide(torch.tensor(48, device=device), torch.tensor(16, device=device))
print(
    "heads",
    tuple(torch.zeros(2, 48, device=device).view(2, int(heads), -1).shape),
    "ceil",
    int(torch.ceil(size[1] / 4)),
)
