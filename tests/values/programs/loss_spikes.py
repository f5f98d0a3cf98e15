"""Losses kept on the device; a spike rolls the weights back"""

import sys
from collections import deque

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
recent, kept, rolled_back = deque(maxlen=5), None, []
for step in range(30):
    inputs = torch.randn(16, 4).to(device)
    target = inputs.sum(1, keepdim=True) * (50 if step in (11, 19) else 1)
    loss = nn.functional.mse_loss(model(inputs), target)
    if len(recent) == 5 and loss > 5 * torch.stack(list(recent)).median():
        model.load_state_dict(kept)
        rolled_back.append(step)
        continue
    recent.append(loss.detach())
    if step % 5 == 0:
        kept = {name: value.clone() for name, value in model.state_dict().items()}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("rolled back at", rolled_back, "losses falling", bool(recent[-1] < 1))
