"""Runs the commands of README.md: every indented line that starts with scripts/torchmem.

    python3 readme_test.py --torchmem BIN --python PYTHON --models DIR

Each runs in a folder that has what a reader would have: a model.pt that fits the command's inputs, and a train.py.
"""

import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRAIN = "import torch\nmodel = torch.nn.Linear(64, 64).cuda()\nmodel(torch.randn(8, 64, device='cuda')).sum().backward()\n"


def commands():
    lines = (ROOT / "README.md").read_text().splitlines()
    return [match[1] for line in lines if (match := re.match(r" {4}(?:\$ )?(scripts/torchmem .+)", line))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--torchmem", required=True, type=pathlib.Path)
    parser.add_argument("--python", required=True, type=pathlib.Path)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    options = parser.parse_args()
    if not (options.models / "done").exists():
        print("the test models are not made")
        return 77
    failed = 0
    found = commands()
    for command in found:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "scripts").mkdir()
            (folder / "scripts/torchmem").symlink_to(options.torchmem.resolve())
            (folder / "test_models").symlink_to(ROOT / "test_models")
            (folder / "model.pt").symlink_to(options.models / ("gpt2like.pt" if "ids=" in command else "resnet18.pt"))
            (folder / "train.py").write_text(TRAIN)
            # "python3" is the reader's, which has PyTorch. A script, since PATH cannot hold a folder with a colon in its name.
            python = folder / "bin/python3"
            python.parent.mkdir()
            python.write_text(f'#!/bin/sh\nexec {shlex.quote(str(options.python))} "$@"\n')
            python.chmod(0o755)
            path = f"{python.parent}:{os.environ['PATH']}"
            ended = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, env={**os.environ, "PATH": path})
            good = ended.returncode == 0 and (ended.stdout or "peak allocated" in ended.stderr)
            failed += not good
            print(f"{'ok  ' if good else 'FAIL'} {command}")
            if not good:
                print(f"exit code {ended.returncode}\n{ended.stdout[-1000:]}{ended.stderr[-2000:]}")
    print(f"{len(found) - failed} of {len(found)} commands did what they say")
    return 1 if failed or not found else 0


sys.exit(main())
