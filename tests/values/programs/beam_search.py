"""Beam search over a table of transition scores, ended by the end token"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
vocabulary, beams, end = 12, 4, 0
table = torch.randn(vocabulary, vocabulary).log_softmax(-1).to(device)
sequences = torch.full((beams, 1), 1, device=device)
scores = torch.tensor([0.0] + [-1e9] * (beams - 1), device=device)
finished = []
for step in range(50):
    candidates = (scores[:, None] + table[sequences[:, -1]]).view(-1)
    best, index = candidates.topk(2 * beams)
    parents, tokens = index // vocabulary, index % vocabulary
    kept = []
    for score, parent, token in zip(best.tolist(), parents.tolist(), tokens.tolist()):
        if token == end:
            finished.append((score / (step + 1), sequences[parent].tolist()))
        elif len(kept) < beams:
            kept.append((score, parent, token))
    if len(finished) >= beams:
        break
    order = torch.tensor([parent for _, parent, _ in kept], device=device)
    added = torch.tensor([[token] for _, _, token in kept], device=device)
    sequences = torch.cat([sequences[order], added], 1)
    scores = torch.tensor([score for score, _, _ in kept], device=device)
print("ended at step", step, "with", len(finished), "finished")
print("best", max(finished)[1])
