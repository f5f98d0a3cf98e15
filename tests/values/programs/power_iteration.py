"""Power iteration until the eigenvalue changes by less than a tolerance"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
matrix = torch.diag(torch.tensor([5.0, 3.0, 2.0, 1.0])) + 0.1
matrix = matrix.to(device)
vector, before = torch.ones(4, device=device), torch.tensor(0.0, device=device)
for iteration in range(1000):
    vector = matrix @ vector
    vector = vector / vector.norm()
    value = vector @ matrix @ vector
    if (value - before).abs() < 1e-4:
        break
    before = value
print("iterations", iteration, "eigenvalue", round(value.item(), 2))
print(
    "direction",
    vector.abs().argmax().item(),
    "exact",
    torch.allclose(value, torch.linalg.eigvalsh(matrix)[-1], atol=1e-3),
)
