"""Guards on masks: all, any, and none"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
masks = {
    "full": torch.ones(3, 5, dtype=torch.bool),
    "right padded": torch.arange(5)[None] < torch.tensor([[3], [5], [4]]),
    "left padded": torch.arange(5)[None] >= torch.tensor([[2], [0], [1]]),
    "empty row": torch.arange(5)[None] < torch.tensor([[0], [5], [4]]),
}
for name, mask in masks.items():
    mask = mask.to(device)
    way = []
    if mask.all():
        way.append("dense")
    if not mask[:, 0].all():
        way.append("left padding" if mask.any(1).all() else "a row is empty")
    if (~mask).any():
        way.append(f"{(~mask).sum().item()} hidden")
    if torch.all(mask == mask[:1]):
        way.append("rows alike")
    print(name + ":", ", ".join(way))
