"""nn.TransformerEncoder in eval: its nested-tensor path is for masks that are left-aligned"""

import sys
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
device = sys.argv[1]
torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=True).to(device).eval()
x = torch.randn(3, 10, 8).to(device)
with torch.no_grad():
    for lengths in ([10, 4, 7], [6, 6, 2], [10, 10, 10]):
        padding = torch.arange(10, device=device)[None] >= torch.tensor(lengths, device=device)[:, None]
        for side, mask in (("right", padding), ("left", padding.flip(1))):
            out = model(x, src_key_padding_mask=mask)
            print(lengths, side, "zero rows", int((out == 0).all(-1).sum()))
