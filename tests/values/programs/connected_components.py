"""Labels of connected components, spread until nothing changes"""

import sys

import torch
import torch.nn.functional as F

device = sys.argv[1]
torch.manual_seed(0)
image = (torch.rand(12, 16) < 0.55).to(device)
labels = torch.arange(1, image.numel() + 1, device=device).view(image.shape) * image
for sweep in range(500):
    padded = F.pad(labels, (1, 1, 1, 1))
    around = torch.stack([labels, padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]])
    spread = around.amax(0) * image
    if torch.equal(spread, labels):
        break
    labels = spread
names, sizes = labels[image].unique(return_counts=True)
print("sweeps", sweep, "components", len(names), "largest", sizes.max().item())
small = torch.isin(labels, names[sizes < 3])
print("removed", small.sum().item(), "left", (image & ~small).sum().item())
