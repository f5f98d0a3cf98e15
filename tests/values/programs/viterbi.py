"""Viterbi decoding with its path followed back by argmax"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
emissions, transitions = torch.randn(9, 4).to(device), torch.randn(4, 4).to(device)
score, back = emissions[0], []
for emission in emissions[1:]:
    total = score[:, None] + transitions + emission[None]
    score, best = total.max(0)
    back.append(best)
path = [score.argmax().item()]
for best in reversed(back):
    path.append(best[path[-1]].item())
path.reverse()
print("path", path, "changes", sum(a != b for a, b in zip(path, path[1:])))
states = torch.tensor(path, device=device)
again = emissions.gather(1, states[:, None]).sum() + transitions[states[:-1], states[1:]].sum()
print("score agrees", torch.allclose(again, score.max()))
