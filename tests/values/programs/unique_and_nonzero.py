"""unique, nonzero and their relations: sizes that depend on values"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
x = torch.randint(0, 12, (40,)).to(device)
values, inverse, counts = x.unique(return_inverse=True, return_counts=True)
print("unique", values.numel(), "commonest", values[counts.argmax()].item(), "rebuilt", torch.equal(values[inverse], x))
rows = torch.randint(0, 2, (20, 3)).to(device).unique(dim=0)
print("rows", tuple(rows.shape))
runs, lengths = torch.unique_consecutive(x.sort().values, return_counts=True)
print("runs", len(runs), "as counted", torch.equal(lengths, counts))
print(
    "nonzero", tuple(x.view(8, 5).nonzero().shape), tuple(x.nonzero(as_tuple=True)[0].shape), x.count_nonzero().item()
)
print(
    "twice",
    torch.repeat_interleave(values, counts).numel(),
    "missing",
    (torch.arange(12, device=device)[:, None] != x).all(1).sum().item(),
)
print(
    "isin",
    torch.isin(x, torch.tensor([1, 2, 3], device=device)).sum().item(),
    "argwhere",
    torch.argwhere(x > 9).shape[0],
)
