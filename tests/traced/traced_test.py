"""Profiles models that were traced on the CPU and runs the same models as plain Python programs under `torchmem run`:
the bytes that the allocator was asked for must be equal at the end of every phase, but for what tracing itself changes
(EXPLAINED).

    traced_test.py --torchmem BIN --python PYTHON --models DIR [--quick | --case NAME...]

Models that DIR lacks, or has from before a change, are traced first. Prints a line for each model and mode; exit code 1
on any other difference.
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
AT_ONCE = 6  # models in one Python process, which imports the libraries once
TRACES = {"train": "train", "inference": "eval"}  # which of a model's traces a mode runs

# What a trace has more than its program at the end of some phases (less, if negative), beside its constants: reason,
# phases, bytes.
FORWARD = ("forward", "loss")
BACKWARD = ("backward", "optimizer", "zero_grad")
FROM_FORWARD = ("forward", "end", "input 1", "input 2")
WEIGHTS = "a file's weights are not one buffer, and cuDNN's copy of them is kept for the backward pass"
NUMBER = "a number that the program computes on the host is a tensor, kept for the backward pass"
INDICES = "indices that the program makes on the host are made on the device, and kept for the backward pass"
MASK = "Hugging Face makes a mask only when it is traced: attention keeps it, or is computed in full for it"
BIASES = "the program keeps biases that it looked up for inference, a trace looks them up each time"
LEAF = "the program wants a gradient of its input, which a trace does not know"
EXPLAINED = {
    ("swin", "train"): [(NUMBER, FORWARD, 4 * 4)],
    ("swin3d", "train"): [(NUMBER, FORWARD, 4 * 4)],
    ("windows", "train"): [(NUMBER, FORWARD, 4)],
    ("mvit", "train"): [(INDICES, FORWARD, 6 * 4 * 4 * 8)],
    ("levit",
     "inference"): [(BIASES, FROM_FORWARD, -4 * (2 * 64 * 64 + 2 * 16 * 64 + 3 * 16 * 16 + 3 * 4 * 16 + 4 * 4 * 4))],
    ("efficientformer", "inference"): [(BIASES, FROM_FORWARD, -4 * 8 * 49 * 49)],
    # Two layers; the mask as floats, or weights in place of the logarithms that attention keeps of 32 rows when it is
    # fused.
    ("whisper", "train"): [(MASK, FORWARD, 2 * 4 * 3 * 16 * 16)],
    ("ast", "train"): [(MASK, FORWARD, 2 * 3 * 4 * 4 * (12 * 12 - 32))],
    # With dropout: the weights before it and after it, and which were left.
    ("hubert", "train"): [(MASK, FORWARD, 2 * 3 * 4 * (4 * (2 * 19 * 19 - 32) + 19 * 19)),
                          (LEAF, BACKWARD, -4 * 3 * 1600)],
    ("wav2vec2", "train"): [(LEAF, BACKWARD, -4 * 3 * 1600)],
    ("lstm", "train"): [(WEIGHTS, FORWARD, 4 * 4 * 64 * (32 + 64 + 2 + 64 + 64 + 2))],
    ("bilstm", "train"): [(WEIGHTS, FORWARD, 4 * 2 * 64 * (4 * (32 + 32 + 2) + 32 + 4 * (64 + 32 + 2) + 32))],
    ("bigru", "train"): [(WEIGHTS, FORWARD, 4 * 2 * 3 * 64 * (32 + 64 + 2 + 2 * (128 + 64 + 2)))],
}


def constants_of(path):
    """Bytes of the trace's constants, most of them numbers that sizes are computed with: they are loaded onto the
    device.
    """
    with zipfile.ZipFile(path) as archive:
        return sum(record.file_size for record in archive.infolist() if record.filename.split("/")[-2] == "constants")


def explained(name, mode, phase, iteration):
    rules = EXPLAINED.get((name, mode), ())
    return sum(size for _, phases, size in rules if phase in phases or f"{phase} {iteration}" in phases)


class Test:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder

    def python(self, script, *arguments):
        command = [self.options.torchmem, "run", "--device", DEVICE, "--", self.options.python, str(HERE / script)]
        return subprocess.run(command + [str(argument) for argument in arguments], capture_output=True, text=True)

    def trace_of(self, name, mode):
        return self.options.models / f"{name}.{TRACES[mode]}.pt"

    def trace(self, names):
        ended = self.python("make.py", self.options.models, *names)
        if ended.returncode != 0:
            sys.exit(ended.stderr[-3000:])

    def programs(self, cases):
        """Runs them all; what was said of those that failed."""
        reports = [(name, mode, self.folder / f"{name}.{mode}.program.json") for name, mode in cases]
        return self.python("program.py", *(word for report in reports for word in report)).stderr

    def program(self, name, mode):
        rows = json.loads((self.folder / f"{name}.{mode}.program.json").read_text())
        return [(row["phase"], row["iteration"], row["requested"]) for row in rows]

    def profile(self, name, mode):
        """The rows, and what is wrong with the run itself."""
        report = self.folder / f"{name}.{mode}.json"
        model = MODELS[name]
        command = [self.options.torchmem, "profile", str(self.trace_of(name, mode)), "--device", DEVICE, "--mode", mode]
        for spec in model.specs(model.batch):
            command += ["--input", spec]
        ended = subprocess.run([*command, "--steps", "3", f"--json={report}"], capture_output=True, text=True)
        if ended.returncode != 0:
            raise RuntimeError(f"profile: exit code {ended.returncode}\n{ended.stderr[-3000:]}")
        run = json.loads(report.read_text())
        faults = ["a size or a branch came of an assumed value"] if run["fidelity"]["decided_by_assumed_values"] else []
        rows = [(phase["phase"], phase.get("iteration"), phase["requested_bytes"]["current"])
                for phase in run["phases"]]
        return rows, faults

    def differences(self, name, mode, program_said):
        try:
            program = self.program(name, mode)
        except OSError:
            return [f"the program failed\n{program_said[-3000:]}"]
        profile, found = self.profile(name, mode)
        if [row[:2] for row in program] != [row[:2] for row in profile]:
            return ["the phases are not the same"]
        constants = constants_of(self.trace_of(name, mode))
        for (phase, iteration, expected), (_, _, requested) in zip(program, profile):
            unexplained = requested - expected - constants - explained(name, mode, phase, iteration)
            if unexplained:
                found.append(f"{phase} {iteration}: {requested}, the program {expected}, {unexplained:+} unexplained")
        return found

    def run(self, names):
        """Prints a line for each model and mode; how many failed."""
        self.trace(names)
        cases = [(name, mode) for name in names for mode in TRACES]
        said = self.programs(cases)
        failed = 0
        for name, mode in cases:
            try:
                found = self.differences(name, mode, said)
            except RuntimeError as error:
                found = [str(error)]
            reasons = [reason for reason, _, _ in EXPLAINED.get((name, mode), ())]
            result = "differs" if found else "equal, explained: " + "; ".join(reasons) if reasons else "equal"
            lines = [f"{'FAIL' if found else 'ok  '} {name:17} {mode:9}  {result}", *(f"     {line}" for line in found)]
            print("\n".join(lines), flush=True)
            failed += bool(found)
        return failed


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
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        test = Test(options, pathlib.Path(folder))
        failed = sum(pool.map(test.run, [names[i : i + AT_ONCE] for i in range(0, len(names), AT_ONCE)]))
    print(f"{len(names)} models, {2 * len(names)} runs, {failed} failed, {time.monotonic() - start:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
