"""Conjugate gradients until the residual is small"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
n = 24
matrix = (torch.diag(torch.arange(1.0, n + 1)) + 0.1).double().to(device)
right = torch.ones(n, dtype=torch.float64, device=device)
x, residual = torch.zeros_like(right), right.clone()
direction, squared = residual.clone(), residual @ residual
iterations = 0
while squared.sqrt() > 1e-3 and iterations < 200:
    image = matrix @ direction
    step = squared / (direction @ image)
    x += step * direction
    residual -= step * image
    before, squared = squared, residual @ residual
    direction = residual + squared / before * direction
    iterations += 1
print("iterations", iterations, "solved", torch.allclose(matrix @ x, right, atol=1e-2))
