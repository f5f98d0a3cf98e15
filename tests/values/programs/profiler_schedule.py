"""torch.profiler with a schedule: which steps it takes, how often the operators ran"""

import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

device = sys.argv[1]
torch.manual_seed(0)
activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device == "cuda" else [])
model = nn.Linear(8, 4).to(device)
counts = []


def ready(profiler):
    events = {event.key: event.count for event in profiler.key_averages()}
    counts.append([profiler.step_num] + [events.get(f"aten::{name}", 0) for name in ("linear", "nonzero", "item")])


with profile(
    activities=activities, schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready
) as profiler:
    for step in range(10):
        loss = model(torch.randn(4, 8).to(device))
        index = (torch.arange(6, device=device) > step).nonzero()
        for row in range(len(index)):
            index[row].item()
        loss.sum().backward()
        profiler.step()
print("step, linears, nonzeros, items:", counts)
