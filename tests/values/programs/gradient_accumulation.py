"""Accumulated gradients weighted by the tokens that count, a batch without any left out"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Embedding(20, 20).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
labels = torch.randint(0, 20, (12, 6))
labels[torch.rand(12, 6) < 0.4] = -100
labels[4] = -100
steps, skipped, tokens = 0, [], torch.tensor(0, device=device)
for number, target in enumerate(labels.to(device)):
    valid = (target != -100).sum()
    if valid == 0:
        skipped.append(number)
        continue
    tokens += valid
    nn.functional.cross_entropy(model(target.clamp(min=0)), target, reduction="sum").backward()
    if tokens >= 10:
        for p in model.parameters():
            p.grad /= tokens
        optimizer.step()
        optimizer.zero_grad()
        tokens.zero_()
        steps += 1
print("steps", steps, "skipped", skipped, "tokens left", tokens.item())
print("rows with gradient", int(model.weight.grad.any(1).sum()) if model.weight.grad is not None else None)
