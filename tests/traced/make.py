"""Traces models on the CPU.

    make.py [--recorded] DIR [NAME...]

Writes DIR/NAME.train.pt and DIR/NAME.eval.pt for models of models.py (all without a NAME), since a trace has no switch
for dropout and batch norm. With --recorded, DIR/NAME.pt for those of recorded.py. A file that is newer than this
program is kept.
"""

import os
import pathlib
import sys
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from models import MODELS
from recorded import RECORDED
from specs import make_tensor

HERE = pathlib.Path(__file__).parent
CHANGED = max((HERE / f"{script}.py").stat().st_mtime for script in ("make", "models", "networks", "recorded", "specs"))


def on_cuda(graph):
    """Replaces the device "cpu" that tracing wrote down where the program asks for the device of its input."""
    blocks = [graph]
    while blocks:
        for node in blocks.pop().nodes():
            blocks += node.blocks()
            if node.kind() == "prim::Constant" and node.output().type().kind() == "DeviceObjType":
                node.s_("value", "cuda:0")


def trace(model, training, grad):
    torch.manual_seed(0)
    network = model.build().train(training)
    example = tuple(make_tensor(spec, "cpu") for spec in model.specs(model.traced_batch))
    with torch.set_grad_enabled(grad):
        traced = torch.jit.trace(network, example, check_trace=False, strict=False)
    for module in traced.modules() if model.on_cuda else ():
        for method in module._c._method_names():  # forward, and forward1 where one is called twice
            on_cuda(module._c._get_method(method).graph)
    return traced


def files(name, recorded):
    """(file, model, whether in training mode, whether gradients are recorded while it is traced)"""
    if recorded:
        return [(f"{name}.pt", RECORDED[name], False, True)]
    return [(f"{name}.train.pt", MODELS[name], True, True), (f"{name}.eval.pt", MODELS[name], False, False)]


def main():
    arguments = sys.argv[1:]
    recorded = arguments[:1] == ["--recorded"]
    table = RECORDED if recorded else MODELS
    if recorded:
        del arguments[0]
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    folder, names = pathlib.Path(arguments[0]), arguments[1:] or list(table)
    unknown = [name for name in names if name not in table]
    if unknown:
        sys.exit(f"no such model: {', '.join(unknown)}; there are {', '.join(table)}")
    warnings.filterwarnings("ignore")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        for file, model, training, grad in files(name, recorded):
            path = folder / file
            if path.exists() and path.stat().st_mtime > CHANGED:
                continue
            unfinished = folder / f"{file}.{os.getpid()}.unfinished"
            trace(model, training, grad).save(str(unfinished))
            unfinished.rename(path)


if __name__ == "__main__":
    main()
