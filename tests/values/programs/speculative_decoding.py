"""Speculative decoding: how many drafted tokens are accepted each round"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
table = torch.randn(30, 30)
exact = table.to(device)
draft = (table + 0.3 * torch.randn(30, 30)).to(device)
tokens, accepted = torch.tensor([3], device=device), []
while len(tokens) < 40:
    guesses, last = [], tokens[-1]
    for _ in range(4):
        last = draft[last].argmax()
        guesses.append(last)
    guesses = torch.stack(guesses)
    right = exact[torch.cat([tokens[-1:], guesses])].argmax(-1)
    count = (guesses == right[:-1]).cumprod(0).sum()
    tokens = torch.cat([tokens, guesses[:count], right[count : count + 1]])
    accepted.append(count.item())
print("rounds", len(accepted), "accepted", accepted)
print("length", len(tokens), "end", tokens[-4:].tolist())
