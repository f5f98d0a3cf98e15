"""Trains a model of models.py, or runs it for inference, as `torchmem profile` does with its trace, and writes what the
allocator held at the end of each phase.

    program.py (NAME train|inference OUT.json)...

The optimizer is torch.optim's AdamW in its loop, which takes what LibTorch's takes. OUT.json is a list of {"phase",
"iteration", "requested", "allocated"}. Of several, each runs in a process of its own; the libraries are imported once.
"""

import importlib
import json
import os
import sys
import traceback
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from models import MODELS
from specs import make_tensor

STEPS = 3


def first_tensor(result):
    while not torch.is_tensor(result):
        result = next(iter(result.values() if isinstance(result, dict) else result))
    return result


def run(name, mode, report):
    model = MODELS[name]
    specs = model.specs(model.batch)
    torch.manual_seed(0)
    network = model.build().train(mode == "train").cuda()
    optimizer = torch.optim.AdamW(network.parameters(), 1e-3, foreach=False) if mode == "train" else None
    rows = []

    def end(phase, iteration=None):
        held = torch.cuda.memory_stats()
        values = {kind: held[f"{kind}_bytes.all.current"] for kind in ("requested", "allocated")}
        rows.append({"phase": phase, "iteration": iteration, **values})

    def train(iteration):
        inputs = [make_tensor(spec, "cuda") for spec in specs]
        end("input", iteration)
        y = first_tensor(network(*inputs))
        end("forward", iteration)
        loss = y.sum()
        del y
        end("loss", iteration)
        loss.backward()
        end("backward", iteration)
        optimizer.step()
        end("optimizer", iteration)
        optimizer.zero_grad()
        end("zero_grad", iteration)

    @torch.no_grad()
    def infer(iteration):
        inputs = [make_tensor(spec, "cuda") for spec in specs]
        end("input", iteration)
        y = first_tensor(network(*inputs))
        end("forward", iteration)
        del y
        end("end", iteration)

    end("load")
    for iteration in range(STEPS):
        (train if mode == "train" else infer)(iteration)
    with open(report, "w") as file:
        json.dump(rows, file)


def run_apart(name, mode, report):
    """Whether it could."""
    process = os.fork()
    if process == 0:
        try:
            run(name, mode, report)
        except Exception:
            sys.exit(traceback.format_exc())
        sys.exit(0)
    return os.waitpid(process, 0)[1] == 0


def main():
    warnings.filterwarnings("ignore")
    arguments = sys.argv[1:]
    runs = [arguments[i : i + 3] for i in range(0, len(arguments), 3)]
    if len(runs) == 1:
        return run(*runs[0])
    # Before anything uses the device, which a forked process could not.
    for library in ("timm", "torchvision", "transformers"):
        importlib.import_module(library)
    return not all([run_apart(*each) for each in runs])


if __name__ == "__main__":
    sys.exit(main())
