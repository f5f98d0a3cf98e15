"""clip_grad_norm_ with error_if_nonfinite, its error caught"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
ways = []
for step in range(6):
    model.zero_grad()
    model(torch.randn(5, 4).to(device)).sum().backward()
    if step in (1, 4):
        model[0].weight.grad[0, 0] = float("nan") if step == 1 else float("inf")
    try:
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
        after = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
        ways.append("clipped" if norm > 1 and after <= 1.001 else "left alone" if norm <= 1 else "wrong")
    except RuntimeError as error:
        ways.append("error" if "non-finite" in str(error) else "another error")
print(ways)
