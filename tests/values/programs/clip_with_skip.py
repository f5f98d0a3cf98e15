"""Gradient clipping in which a step whose norm is not finite is left out"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
clipped, skipped = [], []
for step in range(10):
    inputs = torch.randn(8, 6).to(device) * (1 if step % 2 else 20)
    if step in (3, 6):
        inputs[0, 0] = float("inf")
    model(inputs).square().mean().backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    if not torch.isfinite(norm):
        skipped.append(step)
    else:
        if norm > 5.0:
            clipped.append(step)
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)
print("clipped", clipped, "skipped", skipped)
print("weights finite", all(bool(p.isfinite().all()) for p in model.parameters()))
