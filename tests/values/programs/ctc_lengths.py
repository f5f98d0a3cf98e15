"""CTC: lengths of inputs and targets, a target that is too long, and greedy decoding"""

import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
log_probs = (4 * torch.randn(12, 3, 5)).log_softmax(-1).to(device)
targets = torch.randint(1, 5, (3, 7)).to(device)
mask = torch.arange(12, device=device)[None] < torch.tensor([[12], [5], [9]], device=device)
input_lengths, target_lengths = mask.sum(1), torch.tensor([4, 7, 3], device=device)
losses = nn.functional.ctc_loss(log_probs, targets, input_lengths, target_lengths, reduction="none")
print("possible", losses.isfinite().tolist())
losses = nn.functional.ctc_loss(log_probs, targets, input_lengths, target_lengths, reduction="none", zero_infinity=True)
print("zeroed", (losses == 0).tolist())
for sample in range(3):
    best = log_probs[: input_lengths[sample], sample].argmax(-1)
    text = torch.unique_consecutive(best)
    text = text[text != 0]
    right = len(text) == target_lengths[sample]
    print("decoded", text.tolist(), "length right" if right else "length wrong")
