#!/usr/bin/env python3
"""`torchmem run --save`: whose the memory is of programs that never come to a backward, or whose weights nobody trains.

    TORCHMEM=BIN TEST_PYTHON=PYTHON owners_test.py
"""
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

MIB = 1 << 20
HIDDEN = 8192 * 4096 * 4
ROWS = 8192 * 1024 * 4
NET = """import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(1024, 4096)
        self.down = torch.nn.Linear(4096, 1024)
        self.unused = torch.nn.Linear(1024, 1024)
        self.register_buffer("scale", torch.ones(1024))

    def forward(self, x):
        h = torch.nn.functional.gelu(self.up(x))
        y = self.down(torch.dropout(h, 0.5, True)) * self.scale
        return y, torch.empty(1 << 40, dtype=torch.uint8, device="cuda") if fails else None

net = Net().cuda()
x = torch.randn(8192, 1024).cuda()
"""
WEIGHTS = 2 * (1024 * 4096 * 4) + 4096 * 4 + 1024 * 4 + 1024 * 1024 * 4 + 1024 * 4

ENDS_IN_FORWARD = NET + """
fails = True
net(x)
"""
GOES_ON = NET + """
fails = True
try:
    net(x)
except torch.OutOfMemoryError:
    pass
fails = False
with torch.no_grad():
    net(x)
"""
NEVER_CALLED = """import torch
net = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.BatchNorm1d(4096)).cuda()
"""
# A frozen base with a norm of its own, and an adapter that is trained; weights that no module holds.
FROZEN = """import torch

class Norm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1024))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight

class Adapted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = torch.nn.Embedding(4096, 1024)
        self.norm = Norm()
        self.base = torch.nn.Linear(1024, 1024, bias=False)
        for parameter in self.parameters():
            parameter.requires_grad_(False)
        self.a = torch.nn.Linear(1024, 16, bias=False)
        self.b = torch.nn.Linear(16, 1024, bias=False)

    def forward(self, ids):
        h = self.norm(self.tokens(ids))
        return torch.nn.functional.linear(self.base(h) + self.b(self.a(h)), plain)

net = Adapted().cuda()
plain = torch.randn(256, 1024).cuda()
optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
for step in range(2):
    ids = torch.randint(0, 4096, (2048,)).cuda()
    net(ids).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
FROZEN_WEIGHTS = 4096 * 1024 * 4 + 1024 * 4 + 1024 * 1024 * 4 + 2 * (16 * 1024 * 4) + 256 * 1024 * 4


class Run:
    def __init__(self, torchmem, python, program, exit_code=0):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "program.py").write_text(program)
            command = [torchmem, "run", "--device", "virtual:h200", "--save", "run.pickle", "--", python, "program.py"]
            ended = subprocess.run(command,
                                   cwd=folder, capture_output=True, text=True)
            assert ended.returncode == exit_code, ended
            assert "Exception in RecordFunction" not in ended.stderr and "lost" not in ended.stderr, ended.stderr
            inspected = subprocess.run([torchmem, "inspect", "run.pickle", "--json", "--at", "peak"], cwd=folder,
                                       capture_output=True, text=True)
            assert inspected.returncode == 0, inspected
            self.trace = pickle.loads((folder / "run.pickle").read_bytes())["device_traces"][0]
        self.peak = json.loads(inspected.stdout)["devices"][0]["moments"][0]
        self.categories = self.peak["by_category"]

    def blocks(self, category):
        return sorted((block["bytes"], block["op"], block["line"].rpartition(":")[2])
                      for block in self.peak["by_tensor"]
                      if block["category"] == category)


def check_failed(run):
    """gelu keeps what goes into it, dropout a mask of a byte each, the last product the buffer alone, which is one."""
    categories = run.categories
    assert categories["parameters"] == WEIGHTS, categories
    assert categories["buffers"] == 4096, categories
    kept = [(size, op) for size, op, _ in run.blocks("activations")]
    expected = sorted([(HIDDEN, "aten::gelu"), (HIDDEN // 4, "aten::dropout"), (HIDDEN, "aten::linear")])
    assert sorted(kept) == expected, run.blocks("activations")
    # h and y, which the call held, and what was multiplied to y.
    assert categories["temporaries"] == HIDDEN + 2 * ROWS, (categories, run.blocks("temporaries"))
    assert categories["other"] == ROWS, (categories, run.blocks("other"))  # x


def main():
    torchmem, python = os.environ["TORCHMEM"], os.environ["TEST_PYTHON"]
    if not pathlib.Path(python).exists():
        print("there is no Python with torch")
        return 77
    ended = Run(torchmem, python, ENDS_IN_FORWARD, 1)
    check_failed(ended)
    first = next(event for event in ended.trace if event["action"] == "alloc")
    operators = [frame["name"] for frame in first["frames"] if frame["filename"] == "<op>"]
    assert operators[-1:] == ["aten::to"], first
    names = {block.get("name") for block in ended.peak["by_tensor"] if block["category"] in ("parameters", "buffers")}
    assert names == {"up.weight", "up.bias", "down.weight", "down.bias", "unused.weight", "unused.bias", "scale"}, names
    check_failed(Run(torchmem, python, GOES_ON))

    never_called = Run(torchmem, python, NEVER_CALLED).categories
    held = 1024 * 4096 * 4 + 3 * 4096 * 4
    expected = {**dict.fromkeys(never_called, 0), "parameters": held, "buffers": 2 * 4096 * 4 + 512}
    assert never_called == expected, never_called

    frozen = Run(torchmem, python, FROZEN)
    assert frozen.categories["parameters"] == FROZEN_WEIGHTS, frozen.categories
    print("owners are known before any backward, and without any")
    return 0


sys.exit(main())
