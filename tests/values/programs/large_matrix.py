"""Power iteration on a matrix whose products the virtual device does not compute"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
matrix = torch.randn(1500, 1500)
matrix = (matrix @ matrix.T / 1500 + torch.diag(torch.linspace(0, 40, 1500).square())).to(device)
vectors = torch.ones(1500, 400).to(device)
before = 0.0
for iteration in range(50):
    vectors = torch.nn.functional.normalize(matrix @ vectors, dim=0)
    value = (vectors * (matrix @ vectors)).sum(0).mean().item()
    if abs(value - before) < 1:
        break
    before = value
print("iterations", iteration)
