"""torchvision's non-maximum suppression, for one class and for several"""

import sys

import torch
from torchvision.ops import batched_nms, box_iou, nms

device = sys.argv[1]
torch.manual_seed(0)
corners = torch.rand(60, 2) * 80
boxes = torch.cat([corners, corners + 10 + 20 * torch.rand(60, 2)], 1).to(device)
scores = torch.rand(60).to(device)
classes = torch.randint(0, 3, (60,)).to(device)
kept = nms(boxes, scores, 0.3)
print("nms keeps", kept.numel(), kept[:6].tolist())
kept_by_class = batched_nms(boxes, scores, classes, 0.3)
print("batched keeps", len(kept_by_class), "classes", classes[kept_by_class].bincount(minlength=3).tolist())
overlaps = box_iou(boxes[kept], boxes[kept]).fill_diagonal_(0)
print("overlap left", bool((overlaps > 0.3).any()))
