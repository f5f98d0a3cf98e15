"""EmbeddingBag with offsets made of counts on the device, an empty bag among them"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
counts = torch.tensor([3, 0, 5, 1], device=device)
offsets = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
ids = torch.randint(0, 10, (int(offsets[-1]),)).to(device)
with torch.no_grad():
    bag = nn.EmbeddingBag(10, 4, mode="sum", include_last_offset=True).to(device)
    bag.weight.copy_(torch.arange(40).view(10, 4))
out = bag(ids, offsets)
print("bags", tuple(out.shape), "offsets", offsets.tolist())
print("first column", out[:, 0].int().tolist(), "empty", (out == 0).all(1).nonzero().flatten().tolist())
assert (ids < bag.num_embeddings).all(), "an index is too large"
out.sum().backward()
print("rows with gradient", int((bag.weight.grad != 0).any(1).sum()), "of", ids.unique().numel())
