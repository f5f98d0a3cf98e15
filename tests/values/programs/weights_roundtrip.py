"""Large weights moved to the device and back, and a checkpoint of them"""

import os
import sys
import tempfile

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
model = nn.Linear(1024, 4096)
before = {name: value.clone() for name, value in model.state_dict().items()}
model.to(device)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.pt")
    torch.save(model.state_dict(), path)
    loaded = torch.load(path, map_location="cpu", mmap=True)
    print("saved equal", [torch.equal(loaded[name], value) for name, value in before.items()])
    other = nn.Linear(1024, 4096).to(device)
    other.load_state_dict(torch.load(path, map_location=device))
    print("loaded equal", [torch.equal(value.cpu(), before[name]) for name, value in other.state_dict().items()])
model.cpu()
print("back equal", [torch.equal(value, before[name]) for name, value in model.state_dict().items()])
