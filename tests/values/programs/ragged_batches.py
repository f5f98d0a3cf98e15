"""Sequences of many lengths, padded to the longest of each batch as the device says it"""

import sys

import torch
from torch.nn.utils.rnn import pad_sequence, unpad_sequence

device = sys.argv[1]
torch.manual_seed(0)
sequences = [torch.arange(1, 1 + n).to(device) for n in (5, 2, 9, 1, 7, 7, 3, 8)]
for begin in range(0, 8, 4):
    batch = sequences[begin : begin + 4]
    padded = pad_sequence(batch, batch_first=True, padding_value=0)
    lengths = (padded != 0).sum(1)
    longest = int(lengths.max())
    mask = torch.arange(longest, device=device)[None] < lengths[:, None]
    mean = (padded * mask).sum(1) // lengths
    print(tuple(padded.shape), "longest", longest, "means", mean.tolist())
    back = unpad_sequence(padded, lengths.cpu(), batch_first=True)
    print("back", [len(each) for each in back], all(torch.equal(a, b) for a, b in zip(batch, back)))
