"""Bisection for thresholds, a batch at once, ended by a tolerance"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
scores = torch.randn(3, 100).sort().values.to(device)
wanted = torch.tensor([10, 50, 90], device=device)
low, high = scores.min(1).values - 1, scores.max(1).values + 1
rounds = 0
while True:
    middle = (low + high) / 2
    below = (scores < middle[:, None]).sum(1)
    if (below == wanted).all() or rounds == 60:
        break
    low = torch.where(below < wanted, middle, low)
    high = torch.where(below > wanted, middle, high)
    low, high = torch.where(below == wanted, middle, low), torch.where(below == wanted, middle, high)
    rounds += 1
print("rounds", rounds, "below", below.tolist())
