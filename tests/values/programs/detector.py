"""torchvision's Faster R-CNN with random weights: how many boxes are left"""

import sys

import torch
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn

device = sys.argv[1]
torch.manual_seed(0)
options = {"weights": None, "weights_backbone": None, "box_score_thresh": 0.0, "box_detections_per_img": 100000}
model = fasterrcnn_mobilenet_v3_large_320_fpn(**options).to(device).eval()
with torch.no_grad():
    out = model([torch.rand(3, 128, 160).to(device)])[0]
print("hundreds of boxes", round(len(out["boxes"]) / 100), "labels", len(out["labels"].unique()))
