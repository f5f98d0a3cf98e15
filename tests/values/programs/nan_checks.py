"""Checks for a loss that is not finite: a batch is left out, three in a row end the training"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
bad_in_a_row, left_out, reason = 0, [], "all steps done"
for step in range(20):
    batch = torch.randn(6, 4).to(device)
    if step in (2, 5) or step >= 12:
        batch[step % 6, 0] = float("nan") if step % 2 else float("inf")
    loss = model(batch).square().mean()
    if not torch.isfinite(loss).all():
        left_out.append(("nan" if loss.isnan() else "inf", step))
        bad_in_a_row += 1
        if bad_in_a_row == 3:
            reason = f"three in a row at {step}"
            break
        continue
    bad_in_a_row = 0
    optimizer.zero_grad()
    loss.backward()
    if any(p.grad.isnan().any() for p in model.parameters()):
        raise RuntimeError("nan in gradients")
    optimizer.step()
print("left out", left_out)
print("ended:", reason)
