"""Greedy matching of tracks and detections, until no pair is near enough"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
tracks = torch.rand(6, 2) * 20
found = torch.cat([tracks[[4, 1, 2, 0]] + 0.3, torch.rand(3, 2) * 20 + 30])
tracks, found = tracks.to(device), found.to(device)
cost = torch.cdist(tracks, found)
pairs = []
while True:
    place = cost.argmin()
    if cost.flatten()[place] > 2:
        break
    track, detection = divmod(place.item(), cost.shape[1])
    pairs.append((track, detection))
    cost[track] = float("inf")
    cost[:, detection] = float("inf")
print("pairs", sorted(pairs))
unmatched = torch.ones(len(found), dtype=torch.bool, device=device)
unmatched[torch.tensor([detection for _, detection in pairs], device=device)] = False
print("lost", len(tracks) - len(pairs), "new", unmatched.nonzero().flatten().tolist())
