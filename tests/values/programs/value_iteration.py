"""A grid world: value iteration until nothing changes, then walks until every agent is done"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
size, walls = 6, torch.tensor([[1, 1], [2, 3], [3, 3], [4, 1]])
free = torch.ones(size, size, dtype=torch.bool)
free[walls[:, 0], walls[:, 1]] = False
free = free.to(device)
distance = torch.full((size + 2, size + 2), 99, device=device)
distance[size, size] = 0
for sweep in range(100):
    inner = distance[1:-1, 1:-1]
    around = torch.stack([distance[:-2, 1:-1], distance[2:, 1:-1], distance[1:-1, :-2], distance[1:-1, 2:]])
    new = torch.where(free, torch.minimum(inner, around.amin(0) + 1), 99)
    if (new == inner).all():
        break
    distance[1:-1, 1:-1] = new
print("sweeps", sweep, "farthest", distance[1:-1, 1:-1][free].max().item())
moves = torch.tensor([[-1, 0], [1, 0], [0, -1], [0, 1]], device=device)
agents = torch.tensor([[1, 1], [1, 6], [6, 1], [5, 5]], device=device)
done, steps = torch.zeros(4, dtype=torch.bool, device=device), torch.zeros(4, dtype=torch.long, device=device)
while not done.all():
    next_to = agents[:, None] + moves
    best = distance[next_to[..., 0], next_to[..., 1]].argmin(1)
    agents = torch.where(done[:, None], agents, next_to[torch.arange(4, device=device), best])
    steps += ~done
    done = distance[agents[:, 0], agents[:, 1]] == 0
print("steps", steps.tolist())
