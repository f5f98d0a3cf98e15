"""On a machine with an H200: runs the same profiles on it and on the virtual one, and compares their JSON but for times
and names.

    python3 both_devices.py --torchmem BIN --models DIR [--case REGEX]

Prints what differs, with the largest difference in bytes of each key. Exit code 1 when a statistic of the allocator
differs.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

IMAGES = "--input f32:64x3x224x224"  # whose convolutions are recorded
CASES = [
    *(f"resnet18 {IMAGES} --optimizer {name}" for name in (
        "sgd", "sgd:foreach", "sgd:fused", "momentum", "momentum:foreach", "momentum:fused", "adam:foreach",
        "adam:fused",
        "adamw:foreach", "adamw:fused", "rmsprop", "rmsprop:foreach", "adagrad", "adagrad:foreach")),
    f"resnet18 {IMAGES} --mode grad-forward",
    f"resnet18 {IMAGES} --accumulate 2",
    f"resnet18 {IMAGES} --channels-last",
    f"resnet18 {IMAGES} --autocast f16 --channels-last",
    f"resnet18 {IMAGES} --loss mean",
    f"resnet18 {IMAGES} --loss cross_entropy",
    f"resnet18 {IMAGES} --loss mse",
    f"resnet18 {IMAGES} --alloc-conf expandable_segments:True",
    f"resnet18 {IMAGES} --alloc-conf max_split_size_mb:32",
    f"resnet18 {IMAGES} --alloc-conf roundup_power2_divisions:4",
    f"resnet18 {IMAGES} --limit 3GiB",
    f"resnet18 {IMAGES} --limit 1GiB",
    "gpt_small --input i64:16x128:below=8000 --jit",
    "transformer --input i64:8x128:below=1000",
]
KINDS = ("requested_bytes", "allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes")


def profile(torchmem, models, case, device, report):
    model, *options = case.split()
    command = [torchmem, "profile", str(models / f"{model}.pt"), "--device", device, "--quiet", f"--json={report}",
               *options]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(command)}: exit code {ended.returncode}\n{ended.stderr[-1500:]}")
    return ended.returncode, json.loads(report.read_text())


def differences(real, virtual):
    """The largest difference of each statistic over all phases."""
    largest = {}
    for a, b in zip(real["phases"], virtual["phases"]):
        for key in (*KINDS, "device_bytes"):
            for which in ("current", "peak") if key in KINDS else (None,):
                left, right = (phase[key][which] if which else phase.get(key, 0) for phase in (a, b))
                largest[key] = max(largest.get(key, 0), abs(left - right))
    if [p["phase"] for p in real["phases"]] != [p["phase"] for p in virtual["phases"]]:
        largest["phases"] = abs(len(real["phases"]) - len(virtual["phases"])) or 1
    return {key: value for key, value in largest.items() if value}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchmem", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--case", default="")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch, "report.json")
        for case in (case for case in CASES if re.search(options.case, case)):
            try:
                code, real = profile(options.torchmem, options.models, case, "cuda", report)
                virtual_code, virtual = profile(options.torchmem, options.models, case, "virtual:h200", report)
            except (RuntimeError, OSError, json.JSONDecodeError) as error:
                failed += 1
                print(f"FAIL {case}\n     {error}", flush=True)
                continue
            found = differences(real, virtual)
            if code != virtual_code:
                found["exit_code"] = abs(code - virtual_code)
            wrong = [key for key in found if key != "device_bytes"]
            failed += bool(wrong)
            print(f"{'FAIL' if wrong else 'ok  '} {case}: {found or 'equal'}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
