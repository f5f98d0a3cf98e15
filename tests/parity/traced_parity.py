"""Profiles models that were traced on the CPU and compares with what an H200 did (data/traced_h200.json): requested
bytes are equal at every point, the peaks within bounds, and a model that an H200 cannot run fails here for the same
reason.

    python3 traced_parity.py --torchmem BIN --python PYTHON --models DIR [--case REGEX]

Models that DIR lacks, or has from before a change, are traced first. Exit code 1 when something is further off than it
may be.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
DEVICE = "virtual:h200"
PEAK_WITHIN = {"allocated": 0.001, "reserved": 0.01}
# cuDNN's workspaces of its f16 convolutions are estimated, which moves the peaks.
ESTIMATED = {"unet2": {"allocated": 0.006, "reserved": 0.04}}


def checked(command):
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        raise RuntimeError(f"exit code {ended.returncode}\n{ended.stderr[-3000:]}")


def trace(options, names):
    program = [options.python, str(HERE.parent / "traced" / "make.py"), "--recorded", str(options.models)]
    checked([options.torchmem, "run", "--device", DEVICE, "--", *program, *names])


def profile(options, case, report):
    """The exit code and the report."""
    command = [options.torchmem, "profile", str(options.models / f"{case['model']}.pt"), "--device", DEVICE]
    command += ["--input", case["input"], "--mode", case["mode"], "--steps", "3", f"--json={report}"]
    if "autocast" in case:
        command += ["--autocast", case["autocast"]]
    ended = subprocess.run(command, capture_output=True, text=True)
    if not report.exists():
        raise RuntimeError(f"exit code {ended.returncode}\n{ended.stderr[-3000:]}")
    return ended.returncode, json.loads(report.read_text())


def failure_faults(case, code, run):
    """What is unlike the failure that was recorded."""
    if code != 2 or "error" not in run:
        return [f"exit code {code}, expected a failure: {case['error']}"]
    message = run["error"]["message"]
    expected = (case["error"], f"The device {case['device']} is written into the model")
    return [f"the message lacks {words!r}: {message}" for words in expected if words not in message]


def faults(columns, case, code, run):
    if "error" in case:
        return failure_faults(case, code, run)
    if code != 0:
        return [f"exit code {code}: {run.get('error', {}).get('message')}"]
    recorded = [dict(zip(columns, point)) for point in case["points"]]
    phases = run["phases"]
    if [(p["phase"], p.get("iteration")) for p in phases] != [(p["phase"], p["iteration"]) for p in recorded]:
        return ["the phases are not the recorded ones"]
    found = []
    for phase, point in zip(phases, recorded):
        if phase["requested_bytes"]["current"] != point["requested"]:
            where = f"{point['phase']} {point['iteration']}"
            found.append(f"{where}: requested {phase['requested_bytes']['current']}, expected {point['requested']}")
    for kind, bound in ESTIMATED.get(case["model"], PEAK_WITHIN).items():
        peak = max(phase[f"{kind}_bytes"]["peak"] for phase in phases)
        expected = max(point[f"{kind}_peak"] for point in recorded)
        if abs(peak - expected) > bound * expected:
            found.append(f"peak {kind} {peak}, expected {expected}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchmem", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--case", default="")
    options = parser.parse_args()
    if not pathlib.Path(options.python).exists():
        print(f"skipped: there is no {options.python}")
        sys.exit(77)
    truth = json.loads((HERE / "data" / "traced_h200.json").read_text())
    cases = [case for case in truth["cases"] if re.search(options.case, case["model"])]
    if not cases:
        sys.exit(f"no case matches {options.case!r}")
    trace(options, [case["model"] for case in cases])
    failed = 0
    for case in cases:
        start = time.monotonic()
        try:
            with tempfile.TemporaryDirectory() as folder:
                found = faults(truth["point"], case, *profile(options, case, pathlib.Path(folder, "run.json")))
        except RuntimeError as error:
            found = [str(error)]
        failed += bool(found)
        print(f"{'FAIL' if found else 'ok  '} {case['model']:10} {case['input']:24} {time.monotonic() - start:6.2f} s",
              flush=True)
        for fault in found[:8]:
            print(f"     {fault}")
    print(f"{len(cases) - failed} of {len(cases)} as on the H200")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
