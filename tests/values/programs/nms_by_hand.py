"""Non-maximum suppression written as a loop over what is left"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
corners = torch.rand(40, 2) * 60
boxes = torch.cat([corners, corners + 10 + 15 * torch.rand(40, 2)], 1).to(device)
scores = torch.rand(40).to(device)
area = (boxes[:, 2:] - boxes[:, :2]).prod(1)
order = scores.argsort(descending=True)
kept, left = [], []
while order.numel() > 0:
    first, order = order[0], order[1:]
    kept.append(first.item())
    top_left = torch.maximum(boxes[first, :2], boxes[order, :2])
    bottom_right = torch.minimum(boxes[first, 2:], boxes[order, 2:])
    shared = (bottom_right - top_left).clamp(min=0).prod(1)
    overlap = shared / (area[first] + area[order] - shared)
    order = order[overlap <= 0.3]
    left.append(order.numel())
print("rounds", len(kept), "kept", kept[:8])
print("left", left)
