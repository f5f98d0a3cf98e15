"""A CUDA graph whose replays count; without a device the same function is called"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
counter = torch.zeros(1, dtype=torch.long, device=device)
slot = torch.zeros(4, dtype=torch.long, device=device)
doubled = torch.zeros(4, dtype=torch.long, device=device)


def step():
    counter.add_(1)
    slot.scatter_add_(0, counter % 4, torch.ones_like(counter))
    torch.mul(slot, 2, out=doubled)


replay = step
if device == "cuda":
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    replay = graph.replay
print("before", counter.item(), slot.tolist())
for _ in range(6):
    replay()
print("after 6", counter.item(), slot.tolist(), doubled.tolist())
counter.fill_(100)
while counter < 105:
    replay()
print("after the loop", counter.item(), slot.tolist(), doubled.tolist())
