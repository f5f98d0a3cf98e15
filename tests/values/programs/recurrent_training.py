"""A GRU over packed sequences, trained until it tells rising from falling"""

import sys

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

device = sys.argv[1]
torch.manual_seed(0)
recurrent, head = nn.GRU(1, 8, batch_first=True).to(device), nn.Linear(8, 1).to(device)
lengths = torch.randint(3, 8, (20,))
target = (torch.arange(20) % 2).float().to(device)
slope = (torch.arange(20) % 2 * 2 - 1)[:, None] * torch.linspace(-1, 1, 7)
inputs = (slope + 0.1 * torch.randn(20, 7))[..., None].to(device)
optimizer = torch.optim.AdamW([*recurrent.parameters(), *head.parameters()], lr=0.02)
for epoch in range(200):
    packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    logits = head(recurrent(packed)[1][0]).squeeze(1)
    right = ((logits > 0) == target.bool()).sum()
    if right == 20:
        break
    optimizer.zero_grad()
    nn.functional.binary_cross_entropy_with_logits(logits, target).backward()
    optimizer.step()
print("epochs", epoch, "right", right.item())
