"""repeat_interleave by durations, as text-to-speech expands its phonemes"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
phonemes = torch.arange(1, 9).to(device)
log_duration = torch.randn(8).to(device)
duration = (log_duration.exp() + 0.5).floor().long().clamp(min=0)
if duration.sum() == 0:
    duration[0] = 1
frames = torch.repeat_interleave(phonemes, duration)
total = int(duration.sum())
print("durations", duration.tolist(), "frames", len(frames), total)
ends = duration.cumsum(0)
path = torch.arange(total, device=device)[None] < ends[:, None]
path = path.int() - torch.nn.functional.pad(path.int(), (0, 0, 1, 0))[:-1]
print("path", tuple(path.shape), "rows", path.sum(1).tolist(), "one each", bool((path.sum(0) == 1).all()))
print("silent", (duration == 0).nonzero().flatten().tolist())
