"""Training until the loss is small, with layers whose values the virtual device does not compute"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 2048), nn.ReLU(), nn.Linear(2048, 1024)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
inputs, target = torch.randn(256, 256).to(device), torch.zeros(256, 1024).to(device)
for step in range(30):
    loss = nn.functional.mse_loss(model(inputs), target)
    if loss.item() < 0.02:
        break
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("steps", step, "reached" if step < 29 else "not reached")
