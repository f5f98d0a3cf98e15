"""Correct predictions counted on the device over an epoch, top-1 and top-5"""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Linear(16, 10).to(device).eval()
data = TensorDataset(torch.randn(90, 16), torch.randint(0, 10, (90,)))
correct, seen = torch.zeros(2, dtype=torch.long, device=device), 0
best = -1
with torch.no_grad():
    for batch, (inputs, target) in enumerate(DataLoader(data, batch_size=32)):
        inputs, target = inputs.to(device), target.to(device)
        hits = model(inputs).topk(5).indices == target[:, None]
        correct += torch.stack([hits[:, 0].sum(), hits.sum()])
        seen += target.size(0)
        if hits.any(1).float().mean() > best:
            best, best_batch = hits.any(1).float().mean().item(), batch
print("top 1:", correct[0].item(), "top 5:", correct[1].item(), "of", seen, "best batch", best_batch)
print("checkpoint", "kept" if correct[1] / seen > 0.4 else "thrown away")
