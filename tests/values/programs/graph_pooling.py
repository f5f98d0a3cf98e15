"""A graph network's bookkeeping: degrees, isolated nodes, messages by index_add and scatter"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
nodes = 12
source, target = torch.randint(0, 10, (2, 18)).to(device)
keep = source != target
source, target = source[keep], target[keep]
degree = torch.zeros(nodes, dtype=torch.long, device=device).scatter_add_(0, target, torch.ones_like(target))
print("edges", source.numel(), "degree", degree.tolist())
features = torch.arange(nodes, device=device)
summed = torch.zeros_like(features).index_add_(0, target, features[source])
largest = torch.full_like(features, -1).scatter_reduce_(0, target, features[source], "amax")
print("sums", summed.tolist())
print("largest", largest.tolist())
isolated = (degree == 0) & (torch.zeros_like(degree).index_add_(0, source, torch.ones_like(source)) == 0)
if isolated.any():
    print("isolated", isolated.nonzero().flatten().tolist())
adjacency = torch.zeros(nodes, nodes, dtype=torch.bool, device=device)
adjacency[source, target] = True
print("edges once", adjacency.sum().item(), "both ways", (adjacency & adjacency.T).sum().item())
