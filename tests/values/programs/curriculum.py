"""A counter and a moving average on the device decide when the task gets harder"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
level = torch.tensor(1, device=device)
average = torch.tensor(0.0, device=device)
changes, step = [], 0
results = (torch.arange(400) % 7 != 3).to(device)
while level < 5 and step < 400:
    success = results[step] & (level + step % 3 < 7)
    average.mul_(0.9).add_(success, alpha=0.1)
    step += 1
    if average > 0.8:
        level += 1
        average.zero_()
        changes.append(step)
    elif average < 0.1 and step % 50 == 0:
        level.sub_(1).clamp_(min=1)
print("level", level.item(), "changes", changes, "steps", step)
