"""Anchors matched to boxes as RetinaNet does: foreground, background, and what lies between"""

import sys

import torch
from torchvision.ops import box_iou, clip_boxes_to_image, remove_small_boxes

device = sys.argv[1]
torch.manual_seed(0)
grid = torch.stack(torch.meshgrid(torch.arange(0, 64, 8), torch.arange(0, 64, 8), indexing="xy"), -1).view(-1, 2)
anchors = torch.cat([torch.cat([grid - size, grid + size], 1) for size in (6, 12)]).float().to(device)
boxes = torch.tensor([[3.0, 3, 21, 20], [30, 30, 58, 55], [50, 5, 53, 8]], device=device)
labels = torch.tensor([2, 5, 7], device=device)
overlap = box_iou(boxes, anchors)
best, matched = overlap.max(0)
matched[best < 0.4] = -1
matched[(best >= 0.4) & (best < 0.5)] = -2
# Each box keeps its best anchors, however bad.
of_box, anchor = torch.where(overlap == overlap.max(1, keepdim=True).values)
matched[anchor] = of_box
foreground = matched >= 0
print(
    "foreground",
    foreground.sum().item(),
    "background",
    (matched == -1).sum().item(),
    "between",
    (matched == -2).sum().item(),
)
print("labels", labels[matched[foreground]].unique(return_counts=True)[1].tolist())
inside = clip_boxes_to_image(anchors, (48, 48))
print("kept", len(remove_small_boxes(inside, 4.0)), "of", len(anchors))
