"""torch.jit.trace inside the program, run at other sizes, saved and loaded"""

import io
import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)


class Windows(nn.Module):
    def __init__(self):
        super().__init__()
        self.projections = nn.Linear(8, 24)

    def forward(self, x):
        batch, length, width = x.shape
        x = x.reshape(batch * (length // 4), 4, width)
        query, key, value = self.projections(x).view(x.shape[0], 4, 2, 12).transpose(1, 2).chunk(3, -1)
        x = nn.functional.scaled_dot_product_attention(query, key, value)
        return x.transpose(1, 2).reshape(batch, length, width)


model = Windows().to(device).eval()
traced = torch.jit.trace(model, torch.randn(2, 8, 8).to(device))
for shape in ((2, 8, 8), (3, 12, 8), (1, 4, 8)):
    x = torch.randn(shape).to(device)
    print(shape, tuple(traced(x).shape), torch.allclose(traced(x), model(x), atol=1e-5))
file = io.BytesIO()
torch.jit.save(traced, file)
file.seek(0)
loaded = torch.jit.load(file, map_location=device)
print("loaded equal", torch.equal(loaded(x), traced(x)))
