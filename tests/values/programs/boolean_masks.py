"""Boolean masks: sizes of what they select, and what is written through them"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
x = torch.randint(-9, 10, (6, 7)).to(device)
positive = x > 0
print(
    "selected", x[positive].shape[0], "rows", x[positive.any(1)].shape[0], "by two", x[positive & (x % 2 == 0)].tolist()
)
x[x < 0] = 0
print("zeros", int((x == 0).sum()), "sum", x.sum().item())
x[positive] += torch.arange(int(positive.sum()), device=device)
print("columns", x.sum(0).tolist())
y = x.masked_fill(~positive, -1)
print("masked_select", y.masked_select(y > 8).numel(), "first row", y[0].tolist())
rows, columns = torch.where(y > 8)
print("where", len(rows), rows[:5].tolist(), columns[:5].tolist())
