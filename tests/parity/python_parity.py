"""Runs Python programs through `torchmem run` on the virtual H200 and compares what the caching allocator says in them,
at every point, with what it said on a real one (data/python_h200.json).

    python3 python_parity.py --torchmem BIN --python PYTHON [--quick | --case SPEC...]

A case is MODEL|BATCH|OPTIMIZER|MODE and, if it has them, the allocator's settings. Without a choice every case runs;
that also checks how many of all are equal. Where a real device was not the same twice, the nearer of its runs counts.
Exit code 1 when something is further off than it may be.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
ALLOCATED, ALLOCATED_PEAK, RESERVED, RESERVED_PEAK, REQUESTED, INACTIVE = range(1, 7)
# The quickest: they need neither torchvision nor transformers.
QUICK = ("dcgan|64|adam|fp32", "lstm|16|none|fp32", "gru|16|sgd|fp32", "unet3d|4|adamw|fp32")
ALLOCATED_WITHIN = 0.001  # of the peak, in every case
RESERVED_WITHIN = 0.012
ALLOCATED_EQUAL = 26  # of all cases
RESERVED_EQUAL = 31


def run(torchmem, python, spec):
    """The program's rows, and the peaks (allocated, reserved) that torchmem says it had."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "run.json")
        command = [torchmem, "run", "--device", "virtual:h200", f"--json={report}", "--"]
        *program, settings = (spec + "|").split("|", 4)
        command += [python, str(HERE / "model_program.py"), "|".join(program)]
        environment = dict(os.environ)
        if settings.strip("|"):
            environment["PYTORCH_CUDA_ALLOC_CONF"] = settings.strip("|")
        ended = subprocess.run(command, capture_output=True, text=True, env=environment)
        lines = [line for line in ended.stdout.splitlines() if line.startswith("{")]
        if ended.returncode != 0 or not lines:
            raise RuntimeError(f"exit code {ended.returncode}\n{ended.stderr[-3000:]}")
        devices = [device for process in json.loads(report.read_text())["processes"] for device in process["devices"]]
    peaks = [(device["peak_allocated_bytes"], device["peak_reserved_bytes"]) for device in devices]
    return json.loads(lines[-1])["rows"], peaks


def nearest(rows, recorded):
    def equal_values(run):
        return sum(a == b for row, other in zip(rows, run) for a, b in zip(row[1:], other[1:]))

    return max(recorded, key=equal_values)


def off_by(value, expected):
    return abs(value - expected) / expected


def difference(value, expected):
    return "equal" if value == expected else f"{100 * (value - expected) / expected:+.4f} %"


class Case:
    def __init__(self, spec, recorded, rows, peaks, seconds):
        self.spec = spec
        self.rows = rows
        self.seconds = seconds
        self.real = nearest(rows, recorded)
        self.equal = [sum(row[i] == other[i] for row, other in zip(rows, self.real)) for i in range(1, 7)]
        self.peak = {i: (rows[-1][i], self.real[-1][i]) for i in (ALLOCATED_PEAK, RESERVED_PEAK)}
        self.peaks = peaks

    def faults(self):
        if [row[0] for row in self.rows] != [row[0] for row in self.real]:
            return ["the program's points are not the recorded ones"]
        faults = []
        if self.equal[REQUESTED - 1] != len(self.real):
            faults.append("requested bytes differ, so the program did not do the same")
        if off_by(*self.peak[ALLOCATED_PEAK]) > ALLOCATED_WITHIN:
            faults.append(
                f"peak allocated {self.peak[ALLOCATED_PEAK][0]}, on the device {self.peak[ALLOCATED_PEAK][1]}")
        if off_by(*self.peak[RESERVED_PEAK]) > RESERVED_WITHIN:
            faults.append(f"peak reserved {self.peak[RESERVED_PEAK][0]}, on the device {self.peak[RESERVED_PEAK][1]}")
        own = (self.peak[ALLOCATED_PEAK][0], self.peak[RESERVED_PEAK][0])
        if self.peaks != [own]:
            faults.append(f"torchmem says {self.peaks}, the program {own}")
        return faults

    def line(self):
        counts = " ".join(f"{count:2}" for count in self.equal)
        return (
            f"{self.spec:42} {len(self.real):2}: {counts}   {difference(*self.peak[ALLOCATED_PEAK]):>12} "
            f"{difference(*self.peak[RESERVED_PEAK]):>12} {self.seconds:6.1f} s"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchmem", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--case", action="append", metavar="SPEC")
    arguments = parser.parse_args()
    recorded = {case["spec"]: case["runs"]
                for case in json.loads((HERE / "data/python_h200.json").read_text())["cases"]}
    specs = arguments.case or (QUICK if arguments.quick else list(recorded))

    print(f"{'case':42} rows equal in: allocated, its peak, reserved, its peak, requested, inactive; the peaks; time")
    cases, failed = [], False
    for spec in specs:
        start = time.monotonic()
        try:
            case = Case(spec, recorded[spec], *run(arguments.torchmem, arguments.python, spec),
                        time.monotonic() - start)
        except RuntimeError as error:
            print(f"{spec:42} {error}", flush=True)
            failed = True
            continue
        cases.append(case)
        print(case.line(), flush=True)
        for fault in case.faults():
            print(f"    {fault}", flush=True)
            failed = True
    for name, column, wanted in (("allocated", ALLOCATED_PEAK, ALLOCATED_EQUAL),
                                 ("reserved", RESERVED_PEAK, RESERVED_EQUAL)):
        equal = sum(case.peak[column][0] == case.peak[column][1] for case in cases)
        print(f"peak {name} equal in {equal} of {len(specs)}")
        if len(specs) == len(recorded) and equal < wanted:
            print(f"    expected at least {wanted}")
            failed = True
    return 1 if failed else 0


sys.exit(main())
