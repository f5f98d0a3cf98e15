"""Newton's method on a batch: what has converged is frozen"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
numbers = torch.tensor([2.0, 9.0, 100.0, 1e6, 0.25], dtype=torch.float64, device=device)
root = torch.ones_like(numbers)
active = torch.ones_like(numbers, dtype=torch.bool)
steps = torch.zeros_like(numbers, dtype=torch.long)
while active.any():
    new = 0.5 * (root[active] + numbers[active] / root[active])
    converged = (new - root[active]).abs() < 1e-9 * new
    root[active] = new
    steps[active] += 1
    active[active.clone()] = ~converged
print("steps", steps.tolist())
print("roots", root.tolist()[1:])
