"""A loop that ends when a mask on the device says that every sequence is finished"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
stop_at = torch.tensor([7, 20, 13], device=device)
for condition in ("max", "sum", "any"):
    unfinished = torch.ones(3, dtype=torch.long, device=device)
    length = 0
    while length < 1000:
        length += 1
        stop = torch.full((3,), length, device=device) >= stop_at
        unfinished = unfinished & ~stop
        if condition == "max" and unfinished.max() == 0:
            break
        if condition == "sum" and unfinished.sum().item() == 0:
            break
        if condition == "any" and not unfinished.bool().any():
            break
    print(condition, "ended at", length)
