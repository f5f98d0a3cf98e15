"""ReduceLROnPlateau on a loss that is on the device"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
weight = torch.nn.Parameter(torch.ones(4).to(device))
optimizer = torch.optim.SGD([weight], lr=1.0)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.1, patience=1, threshold=0.01)
losses = torch.tensor([5.0, 4.0, 4.0, 4.0, 3.0, 3.0, 3.0, 3.0, 1.0]).to(device)
rates = []
for loss in losses:
    scheduler.step(loss)
    rates.append(f"{optimizer.param_groups[0]['lr']:.0e}")
print("rates", " ".join(rates))
print("best", float(scheduler.best), "bad epochs", scheduler.num_bad_epochs)
