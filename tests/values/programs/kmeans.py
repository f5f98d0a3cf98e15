"""k-means until no point changes its cluster; an empty cluster gets a new centre"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
centres = torch.tensor([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
points = (centres.repeat_interleave(20, 0) + torch.randn(60, 2)).to(device)
means = torch.cat([points[:3], torch.full((1, 2), 99.0, device=device)])
belongs, moved_to = None, 0
for iteration in range(100):
    nearest = torch.cdist(points, means).argmin(1)
    if belongs is not None and torch.equal(nearest, belongs):
        break
    belongs = nearest
    counts = belongs.bincount(minlength=4)
    for cluster in range(4):
        if counts[cluster] == 0:
            distance = (points - means[belongs]).square().sum(1)
            means[cluster] = points[distance.argmax()]
            moved_to += 1
        else:
            means[cluster] = points[belongs == cluster].mean(0)
print("iterations", iteration, "new centres", moved_to)
print("sizes", sorted(belongs.bincount().tolist()))
