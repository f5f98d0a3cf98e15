"""LBFGS on a small problem: its tolerances end it"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
target = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64, device=device)
x = torch.zeros(3, dtype=torch.float64, device=device, requires_grad=True)
optimizer = torch.optim.LBFGS([x], max_iter=100, line_search_fn="strong_wolfe", tolerance_grad=1e-6)
calls = 0


def closure():
    global calls
    calls += 1
    optimizer.zero_grad()
    loss = ((x - target).square() * torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64, device=device)).sum()
    loss.backward()
    return loss


optimizer.step(closure)
print("iterations", optimizer.state[x]["n_iter"], "calls", calls, "as evaluated", optimizer.state[x]["func_evals"])
print("found", [round(each, 3) for each in x.tolist()])
