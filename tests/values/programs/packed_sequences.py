"""pack_padded_sequence with lengths from a mask on the device, through an LSTM and back"""

import sys

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

device = sys.argv[1]
torch.manual_seed(0)
mask = torch.arange(9)[None] < torch.tensor([4, 9, 1, 6])[:, None]
inputs, mask = torch.randn(4, 9, 3).to(device), mask.to(device)
model = nn.LSTM(3, 5, batch_first=True).to(device)
lengths = mask.sum(1)
packed = pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)
print("batch sizes", packed.batch_sizes.tolist(), "order", packed.sorted_indices.tolist())
output, state = model(packed)
print("packed", tuple(output.data.shape))
output, out_lengths = pad_packed_sequence(output, batch_first=True)
print("padded", tuple(output.shape), out_lengths.tolist())
last = output[torch.arange(4, device=device), lengths - 1]
print("last state equal", torch.equal(last, state[0][0]))
