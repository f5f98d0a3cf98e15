"""What computing values costs: each command with and without it, in turn, ratios pair by pair.

    python3 bench/values.py --torchmem BIN --models DIR [--pairs N] [--check]

Prints the median, the least and the most of the ratio of processor time, for ResNet-50 and a GPT-2-size transformer in
training, where no value is read, and for a small transformer, most of whose values are computed. --check exits with 1
when a median is over its bound.
"""

import argparse
import pathlib
import resource
import statistics
import subprocess
import sys

CASES = (  # name, model, arguments, bound of the ratio
    ("ResNet-50, batch 32, 10 steps", "resnet50.pt", ["--input", "f32:32x3x224x224"], 1.1),
    ("GPT-2 size, batch 8x256, 10 steps", "gpt2like.pt", ["--input", "i64:8x256:below=1000"], 1.1),
    ("small transformer, batch 8x128, 10 steps", "gpt_small.pt", ["--input", "i64:8x128:below=1000"], 1.3),
)


def seconds(command):
    """Of the processor, of the command and all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchmem", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    over = False
    for name, model, arguments, bound in CASES:
        command = [options.torchmem, "profile", str(options.models / model), *arguments, "--device", "virtual:h200",
                   "--steps", "10"]
        with_values, without = [*command, "--values", "small"], [*command, "--values", "none"]
        seconds(with_values), seconds(without)
        ratios = [seconds(with_values) / seconds(without) for _ in range(options.pairs)]
        median = statistics.median(ratios)
        over |= median > bound
        print(f"{name:42} {median:.2f} ({min(ratios):.2f} to {max(ratios):.2f}), bound {bound}", flush=True)
    sys.exit(1 if options.check and over else 0)


if __name__ == "__main__":
    main()
