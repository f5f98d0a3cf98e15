"""Rejection sampling: draws on the device until enough are accepted"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
accepted, rounds = [], 0
while sum(len(each) for each in accepted) < 100:
    points = torch.rand(20, 2, device=device) * 2 - 1
    accepted.append(points[points.square().sum(1) < 0.5])
    rounds += 1
print("rounds", rounds, "accepted", [len(each) for each in accepted][:6])
