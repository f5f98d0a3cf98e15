#!/usr/bin/env python3
"""What recording costs: training steps with everything recorded, with events alone, and with nothing, in turn.

    python3 bench/attribution.py --torchmem BIN --models DIR [--device D] [--rounds N] [--steps N] [--check]

On a real GPU the figure is a step's time, between synchronised points; on the virtual one it is the whole command's, which is
all that a step is there. Each round runs all three, each time in another order; what is printed is the median of the rounds'
ratios to the run without recording, and the ratios' quartiles. --check exits with 1 over the bounds: on a real GPU 3 % for
everything and 0.5 % for events alone, on the virtual one twice the time.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

RECORDINGS = ("off", "events", "owners")
WARM_UP = 3  # iterations: kernels are loaded and the optimizer makes its state

CASES = [
    ("ResNet-50, batch 64", "resnet50.pt", "f32:64x3x224x224"),
    ("transformer of 12 layers, batch 32x256", "gpt2like.pt", "i64:32x256:below=50000"),
]


def as_engine():
    """The engine that this script stands for: the request with the recording that is to be measured."""
    request = json.loads(pathlib.Path(sys.argv[1]).read_text())
    request["recording"] = os.environ["TORCHMEM_BENCH_RECORDING"]
    pathlib.Path(sys.argv[1]).write_text(json.dumps(request))
    engine = os.environ["TORCHMEM_BENCH_ENGINE"]
    os.execv(engine, [engine, sys.argv[1]])


def run(options, model, spec, recording, report):
    """Milliseconds of each step, and of the whole command."""
    environment = dict(os.environ, TORCHMEM_ENGINE=str(pathlib.Path(__file__).resolve()), TORCHMEM_BENCH_RECORDING=recording,
                       TORCHMEM_BENCH_ENGINE=str(options.torchmem.resolve().parent / "torchmem-engine"))
    command = [options.torchmem, "profile", options.models / model, "--device", options.device, "--input", spec, "--steps",
               str(options.steps), "--quiet", f"--json={report}"]
    start = time.monotonic()
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    whole = (time.monotonic() - start) * 1000
    if ended.returncode != 0:
        sys.exit(f"{model}, {recording}: exit code {ended.returncode}\n{ended.stderr[-2000:]}")
    steps = {}
    for phase in json.loads(report.read_text())["phases"]:
        if phase.get("iteration", -1) >= WARM_UP:
            steps[phase["iteration"]] = steps.get(phase["iteration"], 0) + phase["duration_ms"]
    return list(steps.values()), whole


def measure(options, model, spec, report):
    """The milliseconds of each recording, one figure a round."""
    on_virtual = options.device.startswith("virtual")
    figures = {recording: [] for recording in RECORDINGS}
    for number in range(options.rounds):
        turn = number % len(RECORDINGS)
        for recording in RECORDINGS[turn:] + RECORDINGS[:turn]:
            steps, whole = run(options, model, spec, recording, report)
            figures[recording].append(whole if on_virtual else statistics.median(steps))
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchmem", required=True, type=pathlib.Path)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=23)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    bounds = {"events": 2.0, "owners": 2.0} if options.device.startswith("virtual") else {"events": 1.005, "owners": 1.03}
    over = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, model, spec in CASES:
            figures = measure(options, model, spec, pathlib.Path(folder, "report.json"))
            print(f"{name}: off {statistics.median(figures['off']):.2f} ms")
            for recording, bound in bounds.items():
                ratios = [value / off for value, off in zip(figures[recording], figures["off"])]
                lower, ratio, upper = (100 * (ratio - 1) for ratio in statistics.quantiles(ratios, n=4))
                is_over = ratio > 100 * (bound - 1)
                over += is_over
                print(f"  {recording:7} {statistics.median(figures[recording]):9.2f} ms  {ratio:+6.2f} % ({lower:+.2f} to {upper:+.2f})"
                      f"{'  over' if is_over else ''}")
    sys.exit(1 if options.check and over else 0)


if __name__ == "__main__":
    as_engine() if "TORCHMEM_BENCH_ENGINE" in os.environ else main()
