"""A differential equation with a step size that the error decides"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
y = torch.tensor([1.0, 0.0], dtype=torch.float64, device=device)
rotation = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64, device=device)
t, h = torch.tensor(0.0, dtype=torch.float64, device=device), torch.tensor(1.0, dtype=torch.float64, device=device)
accepted = rejected = 0
while t < 6:
    h = torch.minimum(h, 6 - t)
    k1 = rotation @ y
    k2 = rotation @ (y + h * k1)
    error = (h * (k2 - k1) / 2).abs().max()
    if error <= 1e-2:
        y, t = y + h * (k1 + k2) / 2, t + h
        accepted += 1
    else:
        rejected += 1
    h = h * (0.9 * (1e-2 / error.clamp(min=1e-12)).sqrt()).clamp(0.2, 2.0)
print("accepted", accepted, "rejected", rejected, "end", [round(each, 1) for each in y.tolist()])
