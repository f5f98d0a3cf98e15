"""Mixture of experts with a capacity: what overflows is dropped"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
tokens, experts, capacity = 40, 5, 8
logits = torch.randn(tokens, experts) + torch.tensor([1.0, 0.5, 0.0, 0.0, -1.0])
expert = logits.to(device).argmax(-1)
chosen = torch.nn.functional.one_hot(expert, experts)
position = (chosen.cumsum(0) * chosen).sum(-1) - 1
kept = position < capacity
slots = torch.full((experts, capacity), -1, device=device)
slots[expert[kept], position[kept]] = kept.nonzero().squeeze(1)
loads = (slots >= 0).sum(1)
print("wanted", chosen.sum(0).tolist(), "loads", loads.tolist())
print("dropped", int((~kept).sum()), "first", (~kept).nonzero().flatten()[:4].tolist())
if (loads == capacity).any():
    print("full experts", (loads == capacity).nonzero().flatten().tolist())
