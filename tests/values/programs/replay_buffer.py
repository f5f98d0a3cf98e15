"""A replay buffer on the device: it wraps round, and indices are permuted and drawn"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
size = 20
states = torch.full((size,), -1, device=device)
position, full = torch.tensor(0, device=device), torch.tensor(False, device=device)
for step in range(27):
    states[position] = step
    position += 1
    if position == size:
        position.zero_()
        full.fill_(True)
filled = size if full else int(position)
print("filled", filled, "next", position.item(), "oldest", states.min().item())
order = torch.randperm(filled, device=device)
batches = order.split(8)
seen = torch.cat([states[index] for index in batches])
print("batches", [len(each) for each in batches], "each once", seen.unique().numel() == filled)
drawn = torch.randint(0, filled, (500,), device=device)
print("in range", bool(((drawn >= 0) & (drawn < filled)).all()), "all came", drawn.unique().numel() == filled)
priorities = torch.zeros(size, device=device)
priorities[5:8] = 1
picked = torch.multinomial(priorities, 3)
print("picked", sorted(picked.tolist()), "only with priority", bool((priorities[picked] > 0).all()))
