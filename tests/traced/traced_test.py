"""Profiles models that were traced on the CPU and runs the same models as plain Python programs under `torchmem run`: the bytes
that the allocator was asked for must be equal at the end of every phase, but for what tracing itself changes (EXPLAINED).

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

from models import MODELS

HERE = pathlib.Path(__file__).parent
DEVICE = "virtual:h200"
PROCESSES = 2
TRACES = {"train": "train", "inference": "eval"}  # which of a model's traces a mode runs

# What a trace has more than its program at the end of these phases (less, if negative), beside its constants.
FORWARD = ("forward", "loss")
BACKWARD = ("backward", "optimizer", "zero_grad")
KEPT = ("forward", "end", "input 1", "input 2")
EXPLAINED = {}


def constants_of(path):
    """Bytes of the trace's constants, most of them numbers that sizes are computed with: they are loaded onto the device."""
    with zipfile.ZipFile(path) as archive:
        return sum(record.file_size for record in archive.infolist() if record.filename.split("/")[-2] == "constants")


def explained(name, mode, phase, iteration):
    rules = EXPLAINED.get((name, mode), ())
    return sum(size for _, phases, size in rules if phase in phases or f"{phase} {iteration}" in phases)


def checked(command):
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        raise RuntimeError(f"exit code {ended.returncode}\n{ended.stderr[-2000:]}")


class Test:
    def __init__(self, options):
        self.options = options

    def python(self, script, *arguments):
        command = [self.options.torchmem, "run", "--device", DEVICE, "--", self.options.python, str(HERE / script)]
        checked(command + [str(argument) for argument in arguments])

    def trace(self, names):
        if names:
            self.python("make.py", self.options.models, *names)

    def trace_of(self, name, mode):
        return self.options.models / f"{name}.{TRACES[mode]}.pt"

    def lacking(self, names):
        return [name for name in names if not all(self.trace_of(name, mode).exists() for mode in TRACES)]

    def program(self, name, mode, folder):
        report = folder / "program.json"
        self.python("program.py", name, mode, report)
        return [(row["phase"], row["iteration"], row["requested"]) for row in json.loads(report.read_text())]

    def profile(self, name, mode, folder):
        report = folder / "profile.json"
        model = MODELS[name]
        command = [self.options.torchmem, "profile", str(self.trace_of(name, mode)), "--device", DEVICE, "--mode", mode]
        for spec in model.specs(model.batch):
            command += ["--input", spec]
        checked([*command, "--steps", "3", f"--json={report}"])
        phases = json.loads(report.read_text())["phases"]
        return [(phase["phase"], phase.get("iteration"), phase["requested_bytes"]["current"]) for phase in phases]

    def differences(self, name, mode):
        with tempfile.TemporaryDirectory() as folder:
            program = self.program(name, mode, pathlib.Path(folder))
            profile = self.profile(name, mode, pathlib.Path(folder))
        if [row[:2] for row in program] != [row[:2] for row in profile]:
            return ["the phases are not the same"]
        constants = constants_of(self.trace_of(name, mode))
        found = []
        for (phase, iteration, expected), (_, _, requested) in zip(program, profile):
            unexplained = requested - expected - constants - explained(name, mode, phase, iteration)
            if unexplained:
                found.append(f"{phase} {iteration}: {requested}, the program {expected}, {unexplained:+} unexplained")
        return found

    def run(self, name, mode):
        """The line to print, and whether it is a failure."""
        start = time.monotonic()
        try:
            found = self.differences(name, mode)
        except RuntimeError as error:
            found = [str(error)]
        reasons = [rule[0] for rule in EXPLAINED.get((name, mode), ())]
        said = "differs" if found else "equal but for: " + "; ".join(reasons) if reasons else "equal"
        lines = [f"{'FAIL' if found else 'ok  '} {name:17} {mode:9} {time.monotonic() - start:5.1f} s  {said}"]
        return "\n".join(lines + [f"     {line}" for line in found]), bool(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchmem", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--case", action="append", choices=list(MODELS), metavar="NAME")
    options = parser.parse_args()
    if not pathlib.Path(options.python).exists():
        print(f"skipped: there is no {options.python}")
        return 77
    names = options.case or [name for name, model in MODELS.items() if model.quick or not options.quick]
    test = Test(options)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        lacking = test.lacking(names)
        list(pool.map(test.trace, [lacking[i::PROCESSES] for i in range(PROCESSES)]))
        for line, failure in pool.map(lambda case: test.run(*case), [(name, mode) for name in names for mode in TRACES]):
            print(line, flush=True)
            failed += failure
    print(f"{len(names)} models, {2 * len(names)} runs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
