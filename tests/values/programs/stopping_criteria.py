"""Stop strings in generated tokens: windows are compared on the device, each row ends for itself"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
generator = torch.Generator().manual_seed(1)
stops = [torch.tensor(each, device=device) for each in ([3, 1], [2, 2, 0], [4])]
rows = torch.zeros(5, 0, dtype=torch.long, device=device)
ended_at = torch.full((5,), -1, device=device)
for step in range(60):
    rows = torch.cat([rows, torch.randint(0, 8, (5, 1), generator=generator).to(device)], 1)
    stopped = torch.zeros(5, dtype=torch.bool, device=device)
    for stop in stops:
        if rows.shape[1] >= len(stop):
            stopped |= (rows[:, -len(stop) :] == stop).all(1)
    ended_at = torch.where(stopped & (ended_at < 0), step, ended_at)
    if (ended_at >= 0).all():
        break
print("steps", step, "rows ended at", ended_at.tolist())
lengths = ended_at + 1
print("texts", [rows[i, : lengths[i]].numel() for i in lengths.argsort().tolist()])
