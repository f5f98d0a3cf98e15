"""Profiles models that were traced on the CPU and runs the same models as plain Python programs under `torchmem run`: the bytes that
the allocator was asked for must be equal at the end of every phase, but for what tracing itself changes (CONSTANTS, EXPLAINED).

    traced_test.py --torchmem BIN --python PYTHON --models DIR [--quick | --case NAME...]

Models that DIR lacks are traced first. Prints a line for each model and mode; exit code 1 on any other difference.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = pathlib.Path(__file__).parent
DEVICE = "virtual:h200"
PROCESSES = 2
TRACES = {"train": "train", "inference": "eval"}  # what is traced for a mode

FORWARD = ("forward", "loss")
AFTER_FORWARD = ("forward", "end", "input")  # from the first forward on
AFTER_BACKWARD = ("backward", "optimizer", "zero_grad")

# What a trace has more than its program at the end of a phase (less, if negative), beside its constants. Each is exact.
WEIGHTS = "weights from a file are not one buffer, so that cuDNN's copy of them is kept for the backward pass"
NUMBERS = "a number that the program computes on the host is a tensor that is kept for the backward pass"
MASK = "Hugging Face makes a mask when it is traced only, with which attention is computed in full"
BIASES = "the program keeps the biases that it has looked up; the trace looks them up again"
REQUIRES = "the program sets requires_grad of its input, which a trace does not record; it has a gradient of it"
EXPLAINED = {
}


def constants_of(path):
    """Bytes of the trace's constants (the numbers that its sizes are computed with): they are loaded onto the device."""
    with zipfile.ZipFile(path) as archive:
        return sum(record.file_size for record in archive.infolist() if record.filename.split("/")[-2] == "constants")


def checked(command):
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        raise RuntimeError(f"exit code {ended.returncode}\n{ended.stderr[-2000:]}")
    return ended.stdout


class Test:
    def __init__(self, options):
        self.options = options
        self.scratch = None

    def python(self, script, *arguments):
        command = [self.options.torchmem, "run", "--device", DEVICE, "--", self.options.python, str(HERE / script)]
        return checked(command + [str(argument) for argument in arguments])

    def models(self):
        """{name: {"inputs": [SPEC...], "quick": bool}} of those that were chosen."""
        folder = self.scratch / "models.json"
        self.python("list.py", folder)
