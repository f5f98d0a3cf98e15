"""A backtracking line search, and a trust region that shrinks and grows"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)


def loss(x):
    return (1 - x[0]).square() + 10 * (x[1] - x[0].square()).square()


x = torch.tensor([-1.0, 1.5], dtype=torch.float64, device=device, requires_grad=True)
halvings = []
for iteration in range(12):
    value = loss(x)
    (gradient,) = torch.autograd.grad(value, x)
    step, count = 1.0, 0
    with torch.no_grad():
        while loss(x - step * gradient) > value - 0.3 * step * gradient.square().sum():
            step, count = step / 2, count + 1
        x -= step * gradient
    halvings.append(count)
    if gradient.norm() < 1e-3:
        break
print("halvings", halvings)
print("better", bool(loss(x) < 2.6), "near", [round(each, 1) for each in x.tolist()])
