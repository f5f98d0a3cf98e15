"""Top-p filter: how many tokens stay, and the likeliest of them"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
logits = (3 * torch.randn(4, 50)).to(device)
for top_p in (0.3, 0.9, 0.99):
    values, order = logits.sort(descending=True)
    probabilities = values.softmax(-1)
    removed = probabilities.cumsum(-1) - probabilities > top_p
    mask = torch.zeros_like(removed).scatter(1, order, removed)
    filtered = logits.masked_fill(mask, -float("inf"))
    print(top_p, "keeps", (~mask).sum(-1).tolist(), "first", filtered.argmax(-1).tolist())
