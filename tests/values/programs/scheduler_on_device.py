"""Learning rates that are tensors on the device, under several schedulers"""

import sys

import torch
from torch.optim import lr_scheduler

device = sys.argv[1]
torch.manual_seed(0)
schedulers = {
    "step": lambda o: lr_scheduler.StepLR(o, 3, 0.5),
    "warmup": lambda o: lr_scheduler.LambdaLR(o, lambda step: min(1.0, (step + 1) / 4)),
    "cosine": lambda o: lr_scheduler.CosineAnnealingLR(o, 6),
    "chain": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o, 0.25, 1.0, 2), lr_scheduler.ExponentialLR(o, 0.5)], [2]
    ),
}
for name, make in schedulers.items():
    weight = torch.nn.Parameter(torch.ones(3).to(device))
    optimizer = torch.optim.SGD([weight], lr=torch.tensor(0.8, device=device))
    scheduler = make(optimizer)
    rates = []
    for _ in range(6):
        rates.append(round(float(optimizer.param_groups[0]["lr"]), 3))
        weight.grad = torch.ones_like(weight)
        optimizer.step()
        scheduler.step()
    print(name, rates, "sum", round(weight.sum().item(), 2))
