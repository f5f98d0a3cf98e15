"""Magnitude pruning in rounds until the wanted sparsity is reached"""

import sys

import torch
from torch import nn
from torch.nn.utils import prune

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 4)).to(device)
layers = [(model[0], "weight"), (model[2], "weight")]
rounds = 0
while True:
    zeros = sum((layer.weight == 0).sum() for layer, _ in layers)
    total = sum(layer.weight.numel() for layer, _ in layers)
    if zeros / total >= 0.6:
        break
    prune.global_unstructured(layers, prune.L1Unstructured, amount=0.2)
    rounds += 1
print(
    "rounds",
    rounds,
    "zeros",
    zeros.item(),
    "of",
    total,
    "in layers",
    [int((layer.weight_mask == 0).sum()) for layer, _ in layers],
)
prune.ln_structured(model[2], "weight", amount=1, n=2, dim=0)
dead = (model[2].weight == 0).all(1)
prune.remove(model[2], "weight")
print("dead rows", dead.nonzero().flatten().tolist(), "kept", "weight" in dict(model[2].named_parameters()))
