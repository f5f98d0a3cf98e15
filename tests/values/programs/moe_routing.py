"""Mixture of experts: tokens go to the two best experts; an expert without tokens is left out"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
tokens = torch.randn(24, 8).to(device)
gate = nn.Linear(8, 6, bias=False).to(device)
with torch.no_grad():
    gate.weight[4] = 0
    gate.weight[5] = gate.weight[1] * 0.5
experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(6)).to(device)
weights, chosen = gate(tokens).softmax(-1).topk(2)
output = torch.zeros_like(tokens)
ran = []
for number, expert in enumerate(experts):
    token, place = torch.where(chosen == number)
    if token.numel() == 0:
        continue
    ran.append((number, len(token)))
    output.index_add_(0, token, expert(tokens[token]) * weights[token, place, None])
print("experts ran", ran)
print("counts", chosen.flatten().bincount(minlength=6).tolist(), "shape", tuple(output.shape))
