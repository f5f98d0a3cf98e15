"""Batches of at most so many tokens, made of lengths that are sorted on the device"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
lengths, order = torch.randint(1, 60, (50,)).to(device).sort()
budget, batches, begin = 256, [], 0
for end in range(1, len(lengths) + 1):
    if end == len(lengths) or (end + 1 - begin) * lengths[end] > budget:
        batches.append(order[begin:end])
        begin = end
sizes = [len(batch) for batch in batches]
print("batches", len(batches), "sizes", sizes)
padding = sum(int(lengths[sum(sizes[: i + 1]) - 1]) * size for i, size in enumerate(sizes)) - lengths.sum().item()
print("padding", padding, "every one once", torch.equal(torch.cat(batches).sort()[0], torch.arange(50, device=device)))
