"""Quantization observers: ranges seen on the device, scales, and the choice by them"""

import sys
import warnings

import torch
from torch.ao.quantization import (
    FakeQuantize,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
)

warnings.simplefilter("ignore")
device = sys.argv[1]
torch.manual_seed(0)
observer = MinMaxObserver(quant_min=0, quant_max=255).to(device)
fake = FakeQuantize(MovingAverageMinMaxObserver, quant_min=-128, quant_max=127, dtype=torch.qint8).to(device)
for batch in range(4):
    x = (torch.randint(-40, 41, (16,)) * (batch + 1) / 8).to(device)
    observer(x)
    y = fake(x)
    if batch == 2:
        fake.disable_observer()
scale, zero_point = observer.calculate_qparams()
print(
    "range",
    observer.min_val.item(),
    observer.max_val.item(),
    "scale",
    round(scale.item(), 3),
    "zero",
    zero_point.item(),
)
print("levels", y.unique().numel(), "zero", fake.zero_point.item(), "observing", fake.observer_enabled.item())
limit = 127 * fake.scale
print("clipped", ((x - y).abs() > fake.scale).sum().item(), "outside", (x.abs() > limit).sum().item())
