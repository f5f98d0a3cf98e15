"""Fused AdamW whose step is left out on the device when a gradient overflowed"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Linear(4, 4).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, fused=True)
scaler = torch.amp.GradScaler(device, init_scale=1024.0, growth_interval=2)
moved, scales = [], []
for step in range(7):
    before = model.weight.detach().clone()
    inputs = torch.ones(2, 4).to(device)
    if step in (2, 5):
        inputs[0, 0] = float("inf")
    scaler.scale(model(inputs).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    moved.append(not torch.equal(before, model.weight))
    scales.append(int(scaler.get_scale()))
print("moved", moved)
print("scales", scales, "steps", [int(state["step"]) for state in optimizer.state.values()])
