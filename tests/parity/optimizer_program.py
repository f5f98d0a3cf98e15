"""Trains a TorchScript model with one of torch.optim's optimizers as the engine does, three steps, and prints the
allocator's statistics at the end of each phase as one JSON list: [phase, iteration, {statistic: [current, peak]}], the
peaks the phase's own.

    python3 optimizer_program.py MODEL.pt 64x784 adamw foreach
"""

import json
import sys
import warnings

import torch

STATISTICS = ("requested_bytes", "allocated_bytes", "reserved_bytes")
OPTIMIZERS = {
    "sgd": lambda parameters, form: torch.optim.SGD(parameters, 1e-3, **form),
    "momentum": lambda parameters, form: torch.optim.SGD(parameters, 1e-3, momentum=0.9, **form),
    "adam": lambda parameters, form: torch.optim.Adam(parameters, 1e-3, **form),
    "adamw": lambda parameters, form: torch.optim.AdamW(parameters, 1e-3, **form),
    "rmsprop": lambda parameters, form: torch.optim.RMSprop(parameters, 1e-3, **form),
    "adagrad": lambda parameters, form: torch.optim.Adagrad(parameters, 1e-3, **form),
}


def main():
    path, shape, optimizer, form = sys.argv[1:]
    warnings.filterwarnings("ignore")
    torch._C._set_graph_executor_optimize(False)
    torch._C._jit_set_texpr_fuser_enabled(False)
    torch.cuda.init()
    rows = []

    def begin():
        torch.cuda.reset_peak_memory_stats()

    def end(phase, iteration=None):
        stats = torch.cuda.memory_stats()
        values = {name: [stats[f"{name}.all.{word}"] for word in ("current", "peak")] for name in STATISTICS}
        rows.append([phase, iteration, values])

    begin()
    model = torch.jit.load(path, map_location="cuda")
    model.train()
    optimizer = OPTIMIZERS[optimizer](list(model.parameters()), {form: True})
    end("load")

    def iterate(iteration):
        begin()
        x = torch.randn(*[int(size) for size in shape.split("x")], device="cuda")
        end("input", iteration)
        begin()
        y = model(x)
        end("forward", iteration)
        begin()
        loss = y.sum()
        del y
        end("loss", iteration)
        begin()
        loss.backward()
        end("backward", iteration)
        begin()
        optimizer.step()
        end("optimizer", iteration)
        begin()
        optimizer.zero_grad()
        end("zero_grad", iteration)

    for iteration in range(3):
        iterate(iteration)  # a function, so that its tensors die at the end
    print(json.dumps(rows))


main()
