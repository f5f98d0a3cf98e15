"""Early stopping on a loss with dropout, whose masks the device draws"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
inputs = torch.randn(32, 8).to(device)
target = inputs[:, :1].clone()
best, waited = float("inf"), 0
for epoch in range(300):
    loss = nn.functional.mse_loss(model(inputs), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss < best:
        best, waited = loss.item(), 0
    elif (waited := waited + 1) == 5:
        break
print("stopped after epoch", epoch)
