"""AveragedModel, update_bn and BatchNorm, which count on the device"""

import sys

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6, momentum=None), nn.ReLU(), nn.Linear(6, 1)).to(device)
averaged = AveragedModel(model, use_buffers=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
data = [torch.randn(8, 4).to(device) for _ in range(5)]
for epoch in range(4):
    for batch in data:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
    if epoch >= 1:
        averaged.update_parameters(model)
        scheduler.step()
print("batches seen", model[1].num_batches_tracked.item(), "averaged", averaged.n_averaged.item())
update_bn(data, averaged, device=device)
print("after update_bn", averaged.module[1].num_batches_tracked.item(), "lr", scheduler.get_last_lr())
