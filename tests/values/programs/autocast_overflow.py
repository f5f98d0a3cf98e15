"""f16 that overflows: a fallback to f32 when the result is not finite"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
ways = []
for exponent in range(0, 6):
    x = torch.full((4, 4), 10.0**exponent, device=device)
    half = x.half() @ x.half()
    if torch.isinf(half).any():
        result, way = x @ x, "f32"
        if result.max() > torch.finfo(torch.bfloat16).max / 2:
            way = "f64"
    else:
        result, way = half, "f16"
    ways.append(way)
print(ways)
x = torch.tensor([60000.0, 1e-8, float("nan"), 70000.0], device=device).half()
print("inf", x.isinf().tolist(), "zero", (x == 0).tolist(), "nan", x.isnan().sum().item())
print(
    "mended",
    torch.nan_to_num(x, nan=1.0, posinf=2.0).tolist()[2:],
    "clamped",
    x.clamp(max=60000).nan_to_num().max().item(),
)
