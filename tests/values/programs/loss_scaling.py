"""GradScaler with f16: the scale falls until nothing overflows, then grows"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Linear(8, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler(device, init_scale=2.0**20, growth_interval=3)
scales, steps = [], 0
for step in range(14):
    inputs = torch.randn(16, 8).to(device)
    if step == 9:
        inputs[0, 0] = float("nan")
    with torch.autocast(device, dtype=torch.float16):
        loss = model(inputs).float().square().mean() * 64
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    steps += scaler.get_scale() >= before
    scales.append(int(torch.tensor(scaler.get_scale()).log2()))
print("scales 2 **", scales)
print("steps taken", steps)
