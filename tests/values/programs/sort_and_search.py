"""sort, argsort, topk, searchsorted, bucketize, cumsum and median"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
ages = torch.randint(0, 90, (30,)).to(device)
edges = torch.tensor([18, 30, 50, 65], device=device)
print("groups", torch.bucketize(ages, edges).bincount(minlength=5).tolist())
values, order = ages.sort(stable=True)
print("sorted", bool((values.diff() >= 0).all()), "median", int(ages.median()), "mode", int(ages.mode().values))
cumulated = values.cumsum(0)
half = torch.searchsorted(cumulated, cumulated[-1] // 2)
print("half of all years by", half.item(), "of", len(ages))
top = ages.topk(4)
print("top", top.values.tolist(), "kth", ages.kthvalue(5).values.item())
print("rank of the first", int((order == 0).nonzero()), "inverse", torch.equal(values[order.argsort()], ages))
quantiles = torch.quantile(ages.float(), torch.tensor([0.25, 0.75], device=device))
print("quantiles", quantiles.int().tolist(), "outside", int(((ages < quantiles[0]) | (ages > quantiles[1])).sum()))
