"""Documents packed into rows: cumulated lengths, borders, positions that start anew"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
ids = torch.randint(1, 20, (2, 30))
ids[0, [6, 7, 20]] = 0
ids[1, [11, 29]] = 0
ids = ids.to(device)
for row in ids:
    ends = (row == 0).nonzero().flatten()
    borders = torch.cat([ends.new_zeros(1), ends + 1, ends.new_full((1,), len(row))]).unique()
    lengths = borders.diff()
    document = torch.repeat_interleave(torch.arange(len(lengths), device=device), lengths)
    positions = torch.arange(len(row), device=device) - borders[document]
    mask = (document[:, None] == document[None]) & torch.ones(30, 30, dtype=torch.bool, device=device).tril()
    print(
        "documents",
        len(lengths),
        "longest",
        lengths.max().item(),
        "cu_seqlens",
        borders.tolist(),
        "seen",
        mask.sum().item(),
    )
    assert (positions[borders[:-1]] == 0).all() and positions.max() == lengths.max() - 1
