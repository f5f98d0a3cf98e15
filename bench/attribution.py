#!/usr/bin/env python3
"""What recording costs: training steps with everything recorded, with events alone, and with nothing, in turn.

    python3 bench/attribution.py --torchmem BIN --models DIR [--device D] [--rounds N] [--steps N] [--check]

On a real GPU the figure is a step's time, between synchronised points. Recording is switched on and off every other
step of one run, since two runs of the same differ by more than it costs; each step with it is held against the mean of
its two neighbours without. On the virtual device the figure is the whole command's, which is all that a step is there,
and runs with and without it take turns. What is printed is the median of the ratios and their quartiles. --check exits
with 1 over the bounds: on a real GPU 3 % for everything and 0.5 % for events alone, on the virtual one twice the time.
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

WARM_UP = 3  # iterations: kernels are loaded and the optimizer makes its state

CASES = [
    ("ResNet-50, batch 64", "resnet50.pt", "f32:64x3x224x224"),
    ("transformer of 12 layers, batch 32x256", "gpt2like.pt", "i64:32x256:below=50000"),
]


def as_engine():
    """The engine that this script stands for: the request with the recording that is to be measured, and the phases
    kept. The trace of a run in turns has holes, so the command makes nothing of it."""
    request = json.loads(pathlib.Path(sys.argv[1]).read_text())
    if "stream" in request:
        request["recording"], in_turns = os.environ["TORCHMEM_BENCH_RECORDING"].split()
        request["recording_in_turns"] = in_turns == "in_turns"
        pathlib.Path(sys.argv[1]).write_text(json.dumps(request))
    # The engine ends when its parent is not the one that it was told of.
    environment = dict(os.environ, TORCHMEM_PARENT=str(os.getpid()))
    ended = subprocess.run([os.environ["TORCHMEM_BENCH_ENGINE"], *sys.argv[1:]], env=environment)
    if "stream" in request:
        with open(request["stream"], errors="replace") as stream:
            phases = [line[2:] for line in stream if line.startswith("P ")]
        pathlib.Path(os.environ["TORCHMEM_BENCH_PHASES"]).write_text("".join(phases))
    sys.exit(ended.returncode)


def run(options, model, spec, recording, how, folder):
    """Milliseconds of each step by its number, and of the whole command."""
    phases = folder / "phases"
    phases.unlink(missing_ok=True)
    environment = dict(os.environ, TORCHMEM_ENGINE=str(pathlib.Path(__file__).resolve()),
                       TORCHMEM_BENCH_RECORDING=f"{recording} {how}",
                       TORCHMEM_BENCH_ENGINE=str(options.torchmem.resolve().parent / "torchmem-engine"),
                       TORCHMEM_BENCH_PHASES=str(phases))
    command = [options.torchmem, "profile", options.models / model, "--device", options.device, "--input", spec,
               "--steps",
               str(options.steps), "--quiet", f"--json={folder / 'report.json'}"]
    start = time.monotonic()
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    whole = (time.monotonic() - start) * 1000
    if not phases.exists() or (ended.returncode != 0 and how != "in_turns"):
        sys.exit(f"{model}, {recording}: exit code {ended.returncode}\n{ended.stderr[-2000:]}")
    steps = {}
    for phase in map(json.loads, phases.read_text().splitlines()):
        if phase.get("iteration", -1) >= WARM_UP:
            steps[phase["iteration"]] = steps.get(phase["iteration"], 0) + phase["duration_ms"]
    if len(steps) < options.steps - WARM_UP:
        sys.exit(f"{model}, {recording}: only {len(steps)} of {options.steps - WARM_UP} steps\n{ended.stderr[-2000:]}")
    return steps, whole


def in_one_run(options, model, spec, recording, folder):
    """The ratios of the steps with that recording to those around them without."""
    ratios = []
    for _ in range(options.rounds):
        steps, _ = run(options, model, spec, recording, "in_turns", folder)
        for number in range(WARM_UP | 1, options.steps - 1, 2):
            if number - 1 in steps:
                ratios.append(2 * steps[number] / (steps[number - 1] + steps[number + 1]))
    return ratios


def in_runs(options, model, spec, recording, folder):
    """The ratios of runs with that recording to runs with none, one a round."""
    ratios = []
    for number in range(options.rounds):
        figure = {}
        for which in ("off", recording) if number % 2 else (recording, "off"):
            _, figure[which] = run(options, model, spec, which, "always", folder)
        ratios.append(figure[recording] / figure["off"])
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchmem", required=True, type=pathlib.Path)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=41)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    on_virtual = options.device.startswith("virtual")
    over = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, model, spec in CASES:
            print(name)
            for what, recording, bound in (("events alone", "events", 1.005), ("everything", "owners", 1.03)):
                bound = 2.0 if on_virtual else bound
                ratios = (in_runs if on_virtual else in_one_run)(options, model, spec, recording, folder)
                lower, ratio, upper = statistics.quantiles(ratios, n=4)
                over += ratio > bound
                print(f"  {what:13} {100 * (ratio - 1):+6.2f} % ({100 * (lower - 1):+.2f} to {100 * (upper - 1):+.2f},"
                      f" {len(ratios)} ratios){'  over' if ratio > bound else ''}")
    sys.exit(1 if options.check and over else 0)


if __name__ == "__main__":
    as_engine() if "TORCHMEM_BENCH_ENGINE" in os.environ else main()
