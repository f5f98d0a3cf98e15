"""Tensors where Python wants numbers: int, range, if, assert, index, tolist, format"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
n = torch.tensor(3, device=device)
flags = torch.tensor([True, False, True], device=device)
print("range", list(range(n)), "int", int(n) + 1, "float", float(n) / 2, "index", "abcdef"[n], "bool", bool(n > 2))
if flags[1]:
    print("wrong branch")
elif flags[0] and not flags[1] or n == 4:
    print("right branch")
assert flags.any() and not flags.all()
print("list", flags.tolist(), [int(i) for i in torch.arange(n, device=device)], f"{n} {n.item():03d} {n * 1.5:.1f}")
print(
    "shape",
    tuple(torch.zeros(n, n + 1, device=device).shape),
    tuple(torch.zeros(int(n * n)).shape),
    "slice",
    list("abcdef")[n - 1 : n + 2],
)
print(
    "min",
    min(n, 5).item(),
    max(torch.tensor([4, 7, 1], device=device)).item(),
    "sum",
    sum(torch.ones(4, device=device)).item(),
)
print(
    "in",
    2 in torch.arange(3, device=device),
    9 in torch.arange(3, device=device),
    "compared",
    bool(n == 3.0),
    n.item() is not None,
)
first, *rest = torch.arange(4, device=device)
print("unpacked", first.item(), len(rest), "remainder", int(n * 7 // 4), int(n * 7 % 4), "numpy", n.cpu().numpy() + 1)
