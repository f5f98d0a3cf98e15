"""Training that stops when the validation loss has not improved for three epochs"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
inputs, valid = torch.randn(64, 8), torch.randn(32, 8)
target, valid_target = inputs[:, :1] * 2, valid[:, :1] * 2 + 0.5 * torch.randn(32, 1)
model = nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
inputs, target, valid, valid_target = (each.to(device) for each in (inputs, target, valid, valid_target))
best, best_epoch, waited = float("inf"), 0, 0
for epoch in range(200):
    loss = nn.functional.mse_loss(model(inputs), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        valid_loss = nn.functional.mse_loss(model(valid), valid_target)
    if valid_loss < best - 0.01:
        best, best_epoch, waited = valid_loss.item(), epoch, 0
    else:
        waited += 1
        if waited == 3:
            break
print("stopped after epoch", epoch, "best", best_epoch)
print("loss", round(best, 1))
