"""Training resumed from a checkpoint that is loaded onto the device, Adam's step with it"""

import io
import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
inputs, target = torch.randn(16, 4).to(device), torch.randn(16, 2).to(device)


def make():
    model = nn.Linear(4, 2).to(device)
    return model, torch.optim.Adam(model.parameters(), lr=0.01)


def train(model, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), target).backward()
        optimizer.step()


model, optimizer = make()
train(model, optimizer, 3)
file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
train(model, optimizer, 2)
resumed, resumed_optimizer = make()
file.seek(0)
checkpoint = torch.load(file, map_location=device)
resumed.load_state_dict(checkpoint["model"])
resumed_optimizer.load_state_dict(checkpoint["optimizer"])
print("step was", [int(state["step"]) for state in resumed_optimizer.state.values()])
train(resumed, resumed_optimizer, 2)
print("step is", [int(state["step"]) for state in resumed_optimizer.state.values()])
print("as if never stopped", all(torch.allclose(a, b) for a, b in zip(model.parameters(), resumed.parameters())))
