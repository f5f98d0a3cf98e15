"""Search in vectors: the nearest ones, a threshold, results without twins"""

import sys

import torch
import torch.nn.functional as F

device = sys.argv[1]
torch.manual_seed(0)
store = F.normalize(torch.randn(50, 16), dim=1)
store[30:40] = store[:10]
store = store.to(device)
queries = F.normalize(store[[2, 17, 45]] + 0.1 * torch.randn(3, 16).to(device), dim=1)
scores, index = (queries @ store.T).topk(6)
for score, rows in zip(scores, index):
    near = rows[score > 0.5]
    similar = (store[near] @ store[near].T > 0.999).triu(1)
    kept = near[~similar.any(0)]
    print(
        "near",
        near.numel(),
        "kept",
        kept.numel(),
        "first in",
        bool(torch.isin(near[0], torch.tensor([2, 17, 32, 45], device=device))),
    )
if (scores[:, 0] < 0.5).any():
    print("nothing found for", int((scores[:, 0] < 0.5).sum()))
