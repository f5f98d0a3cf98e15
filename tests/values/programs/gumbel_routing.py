"""Routing by Gumbel noise that is drawn on the device"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
logits = torch.randn(40, 4).to(device)
chosen = torch.nn.functional.gumbel_softmax(logits, tau=0.5, hard=True).argmax(-1)
counts = chosen.bincount(minlength=4)
print("tokens of experts", counts.tolist())
capacity = 10
print(
    "over capacity",
    (counts > capacity).nonzero().flatten().tolist(),
    "dropped",
    (counts - capacity).clamp(min=0).sum().item(),
)
