"""Top-p sampling that draws tokens on the device until the end token comes"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
table = torch.randn(20, 20).to(device)
token = torch.tensor([1], device=device)
text = []
while token.item() != 0 and len(text) < 200:
    values, order = table[token[0]].sort(descending=True)
    probabilities = values.softmax(-1)
    kept = probabilities.cumsum(-1) - probabilities <= 0.8
    token = order[torch.multinomial(probabilities * kept, 1)]
    text.append(int(token))
print("length", len(text))
print("text", text[:8])
