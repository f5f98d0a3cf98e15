#!/usr/bin/env python3
"""`torchmem run --save` of a Python training loop: its lines, and whose its memory is, by arithmetic.

    TORCHMEM=BIN TEST_PYTHON=PYTHON record_test.py
"""
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

MIB = 1 << 20
PROGRAM = """import os
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(1024, 4096)
        self.down = torch.nn.Linear(4096, 1024)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))

net = Net().cuda()
optimizer = torch.optim.AdamW(net.parameters())
for step in range(3):
    x = torch.randn(8192, 1024).cuda()
    net(x).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
if os.fork() == 0:
    torch.ones(1)
    os._exit(0)
os.wait()
"""
FORWARD, CUDA, STEP = 11, 13, 18  # lines


def main():
    torchmem, python = os.environ["TORCHMEM"], os.environ["TEST_PYTHON"]
    if not pathlib.Path(python).exists():
        print("there is no Python with torch")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "train.py").write_text(PROGRAM)
        ended = subprocess.run([torchmem, "run", "--device", "virtual:h200", "--save", "run.pickle", "--", python,
                                "train.py"],
                               cwd=folder, capture_output=True, text=True)
        assert ended.returncode == 0, ended
        assert "peak allocated" in ended.stderr and "lost" not in ended.stderr, ended.stderr
        inspected = subprocess.run([torchmem, "inspect", "run.pickle", "--json", "--at", "peak"], cwd=folder,
                                   capture_output=True, text=True)
        assert inspected.returncode == 0, inspected
        snapshot = pickle.loads((folder / "run.pickle").read_bytes())
        subprocess.run([torchmem, "inspect", "run.pickle", "--html", "run.html"], cwd=folder, check=True,
                       capture_output=True)
        assert "train.py" in (folder / "run.html").read_text()
    assert snapshot["torchmem"]["facts"]["program"][1] == "train.py"
    device = json.loads(inspected.stdout)["devices"][0]
    peak = device["peak"]
    categories = peak["by_category"]
    parameters = 2 * 16 * MIB + 16384 + 4096  # each a whole number of blocks of 512 bytes
    assert categories["parameters"] == parameters, categories
    assert categories["optimizer_state"] - 2 * parameters in (0, 4 * 512), categories
    # ReLU's result: the loss's input is not kept at the peak.
    assert categories["activations"] == 8192 * 4096 * 4, categories
    assert categories["workspaces"] >= 32 * MIB, categories
    assert categories["other"] <= 8192 * 1024 * 4 + 4096, categories  # x, which the program made and holds
    lines = {pathlib.Path(share["name"].rpartition(":")[0]).name + ":" +
             share["name"].rpartition(":")[2]: share["bytes"]
             for share in peak["by_line"] if share["name"]}
    assert lines[f"train.py:{CUDA}"] == parameters, lines
    assert lines[f"train.py:{STEP}"] >= 2 * parameters, lines
    assert lines[f"train.py:{FORWARD}"] >= 8192 * 4096 * 4, lines
    print("the program's parameters, state, activations and lines are known")
    return 0


sys.exit(main())
