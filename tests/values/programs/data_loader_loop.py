"""A loader with pinned memory and sampling weights made on the device"""

import sys

import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

device = sys.argv[1]
torch.manual_seed(0)
labels = torch.cat([torch.zeros(30), torch.ones(6), torch.full((4,), 2)]).long()
counts = labels.to(device).bincount()
weights = (1.0 / counts)[labels.to(device)]
sampler = WeightedRandomSampler(weights.cpu(), 60, generator=torch.Generator().manual_seed(0))
loader = DataLoader(TensorDataset(torch.arange(40), labels), 16, sampler=sampler, pin_memory=device == "cuda")
seen = torch.zeros(3, dtype=torch.long, device=device)
used = torch.zeros(40, dtype=torch.bool, device=device)
for index, label in loader:
    index, label = index.to(device, non_blocking=True), label.to(device, non_blocking=True)
    seen += label.bincount(minlength=3)
    used[index] = True
print("counts", counts.tolist(), "drawn", seen.tolist())
print(
    "used", used.sum().item(), "rare ones used", used[30:].sum().item(), "balanced", bool(seen.max() < 2 * seen.min())
)
