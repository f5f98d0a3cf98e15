"""Nested (jagged) tensors from lengths on the device, padded and back"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
lengths = torch.tensor([3, 0, 5, 2], device=device)
offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
values = torch.arange(int(offsets[-1]) * 2, device=device).view(-1, 2).float()
nested = torch.nested.nested_tensor_from_jagged(values, offsets, max_seqlen=int(lengths.max()))
print("rows", [tuple(each.shape) for each in nested.unbind()])
padded = nested.to_padded_tensor(-1.0)
print("padded", tuple(padded.shape), "fill", int((padded == -1).sum()))
back = torch.nested.nested_tensor([row[row[:, 0] >= 0] for row in padded], layout=torch.jagged)
print("back", tuple(back.values().shape), torch.equal(back.values(), values), back.offsets().tolist())
