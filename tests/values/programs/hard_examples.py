"""Hard-example mining: the worst losses are kept, by rank and by threshold"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
logits = (2 * torch.randn(64, 4)).to(device).requires_grad_()
target = torch.randint(0, 4, (64,)).to(device)
losses = nn.functional.cross_entropy(logits, target, reduction="none")
positive = target == 1
wanted = min(2 * int(positive.sum()), int((~positive).sum()))
hard = losses.masked_fill(positive, -1).topk(wanted).indices
print("positive", int(positive.sum()), "negatives kept", wanted, "of", int((~positive).sum()), hard[:5].tolist())
over = losses > 0.7
kept = losses[over] if over.sum() > 16 else losses.topk(16).values
kept.mean().backward()
rows = (logits.grad != 0).any(1)
print("threshold keeps", kept.numel(), "rows with gradient", int(rows.sum()), "the same", torch.equal(rows, over))
