"""torch.jit.script inside the program: loops and branches on values in TorchScript"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)


@torch.jit.script
def collatz(start: torch.Tensor):
    n, steps, halved = start, 0, 0
    while bool(n != 1):
        if bool(n % 2 == 0):
            n = n // 2
            halved += 1
        else:
            n = 3 * n + 1
        steps += 1
    return steps, halved


@torch.jit.script
def trim(x: torch.Tensor, mask: torch.Tensor):
    longest = int(mask.sum(1).max())
    if bool(mask[:, :longest].all()):
        return x[:, :longest], "whole"
    return x[:, :longest] * mask[:, :longest].to(x.dtype), "masked"


print("collatz", [collatz(torch.tensor(n, device=device)) for n in (1, 7, 27)])
x = torch.randn(3, 6).to(device)
for lengths in ([4, 4, 4], [2, 5, 1]):
    mask = torch.arange(6, device=device)[None] < torch.tensor(lengths, device=device)[:, None]
    trimmed, way = trim(x, mask)
    print(lengths, tuple(trimmed.shape), way)
