"""What the tests of `torchmem run` share. The environment variables TORCHMEM (the program) and TEST_PYTHON (a Python
with the torch that the build uses) are set by CTest."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

TORCHMEM = os.environ["TORCHMEM"]
PYTHON = os.environ["TEST_PYTHON"]
PROGRAMS = pathlib.Path(__file__).parent / "programs"


class Ended:
    """A program under `torchmem run` that has ended: its exit code, its outputs, what torchmem says about it."""

    def __init__(self, process, report):
        self.code = process.returncode
        self.stdout = process.stdout
        self.stderr = process.stderr
        self.said = [line for line in process.stderr.splitlines() if line.startswith("torchmem: ")]
        self.processes = json.loads(report.read_text())["processes"] if report.exists() else []

    @property
    def peaks(self):
        """(peak allocated, peak reserved) of every device of every process."""
        devices = [device for process in self.processes for device in process["devices"]]
        return [(device["peak_allocated_bytes"], device["peak_reserved_bytes"]) for device in devices]

    def printed(self):
        """The lines of numbers that the program printed, as tuples."""
        lines = [line for line in self.stdout.splitlines() if re.fullmatch(r"[\d ]+", line)]
        return [tuple(map(int, line.split())) for line in lines]


def run(*program, options=(), torchmem=TORCHMEM, device="virtual:h200", **changes):
    """Runs the program (words) with the environment changed; a change to None removes a variable."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", **changes}
    environment = {name: value for name, value in environment.items() if value is not None}
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "run.json")
        command = [torchmem, "run", "--device", device, f"--json={report}", *options, "--", *map(str, program)]
        process = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
        return Ended(process, report)


def run_python(text, *arguments, **more):
    """The same for a Python program given as text."""
    return run(PYTHON, "-c", textwrap.dedent(text), *arguments, **more)


PRINT_PEAKS = "print(torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), flush=True)"


class RunTest(unittest.TestCase):
    def assert_ended(self, ended, code=0):
        self.assertEqual(ended.code, code, ended.stdout + ended.stderr)

    def assert_peaks_as_printed(self, ended):
        self.assertEqual(ended.peaks, ended.printed(), ended.stdout + ended.stderr)
        self.assertNotEqual(ended.peaks, [])


def main():
    unittest.main(module="__main__", verbosity=2, argv=sys.argv)
