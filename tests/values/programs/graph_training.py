"""A training step in a CUDA graph, Adam's step counter in it; without a device the same function is called"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
cuda = device == "cuda"
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, capturable=cuda)
inputs, target = torch.zeros(16, 4, device=device), torch.zeros(16, 1, device=device)
data = [torch.randn(16, 4) for _ in range(5)]
loss = torch.zeros((), device=device)


def step():
    optimizer.zero_grad(set_to_none=False)
    result = nn.functional.mse_loss(model(inputs), target)
    result.backward()
    optimizer.step()
    loss.copy_(result.detach())


def feed(number):
    inputs.copy_(data[number % 5])
    target.copy_(data[number % 5][:, :1])


feed(0)
with torch.cuda.stream(torch.cuda.Stream() if cuda else None):
    for _ in range(3):
        step()
replay = step
if cuda:
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    replay = graph.replay
for number in range(200):
    feed(number)
    replay()
    if loss < 0.1:
        break
print("replays", number, "steps", {int(state["step"]) for state in optimizer.state.values()})
