"""Streams and events with counters that one stream writes and the host reads"""

import sys

import torch

device = sys.argv[1]
torch.manual_seed(0)
counter = torch.zeros(3, dtype=torch.long, device=device)
cuda = device == "cuda"
side = torch.cuda.Stream() if cuda else None
host = torch.empty(3, dtype=torch.long, pin_memory=cuda)
rounds = 0
while True:
    if cuda:
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        counter += torch.arange(1, 4, device=device)
        host.copy_(counter, non_blocking=True)
    if cuda:
        event = side.record_event()
        event.synchronize()
    rounds += 1
    if host.max() >= 12:
        break
print("rounds", rounds, "host", host.tolist(), "device", counter.tolist())
