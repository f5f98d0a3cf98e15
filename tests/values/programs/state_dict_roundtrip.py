"""A state_dict saved from the device and loaded again: every weight as it was"""

import io
import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(8, 5), nn.Embedding(10, 4))
weights = {name: value.clone() for name, value in model.state_dict().items()}
model.to(device)
file = io.BytesIO()
torch.save(model.state_dict(), file)
file.seek(0)
loaded = torch.load(file, map_location="cpu")
print("saved equal", sum(torch.equal(loaded[name], value) for name, value in weights.items()), "of", len(weights))
model.half().float().cpu()
near = sum(torch.allclose(model.state_dict()[name], value, atol=1e-2) for name, value in weights.items())
exact = sum(torch.equal(model.state_dict()[name], value) for name, value in weights.items())
print("through half near", near, "equal", exact)
