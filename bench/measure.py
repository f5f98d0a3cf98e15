"""Times torchmem as whole processes and takes their largest resident memory, from the kernel's own accounting.

    python3 bench/measure.py --torchmem BIN --models DIR [--decoder FILE.pt] [--runs N] [--check]

Prints the median, the least and the most of each figure. --check exits with 1 when the median is over a case's bound.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

MIB = 1 << 20


class Case:
    def __init__(self, name, model, arguments, command="profile", seconds=None, mib_above_file=None):
        self.name, self.model, self.arguments, self.command = name, model, arguments, command
        self.seconds, self.mib_above_file = seconds, mib_above_file


def cases(models, decoder):
    resnet = models / "resnet50.pt"
    found = [
        Case("ResNet-50, batch 32, 3 steps of AdamW", resnet,
             ["--input", "f32:32x3x224x224", "--optimizer", "adamw", "--steps", "3"], seconds=1.2, mib_above_file=350),
        Case("ResNet-50, batch 32, inference", resnet,
             ["--input", "f32:32x3x224x224", "--mode", "inference", "--steps", "3"]),
        Case("compare: ResNet-50, batch 32, four variants", resnet,
             ["--input", "f32:32x3x224x224",
              *(f"--variant={name}" for name in ("no_grad", "grad", "train", "train+autocast=bf16"))],
             command="compare", seconds=3),
        Case("fit: ResNet-50, training, 24 GiB", resnet, ["--input", "f32:Bx3x224x224", "--limit", "24GiB"],
             command="fit",
             seconds=10),
        Case("fit: ResNet-50, inference, the whole device", resnet,
             ["--input", "f32:Bx3x224x224", "--mode", "inference"],
             command="fit", seconds=10),
        Case("advise: ResNet-50, batch 32, training", resnet, ["--input", "f32:32x3x224x224"], command="advise",
             seconds=60),
    ]
    if decoder:
        found.append(Case("decoder, 6.7 billion parameters, fp16, forward, backward and SGD step", decoder,
                          ["--input", "i64:1x512:below=32000", "--optimizer", "sgd", "--steps", "1"]))
    return found


def run_once(command):
    """Wall seconds, processor seconds and the largest resident set of any process of one run."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}\n{said[-2000:]}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchmem", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--decoder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", metavar="TEXT", help="the cases with this text in their name")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()

    over = 0
    for case in cases(options.models, options.decoder):
        if options.only not in case.name:
            continue
        command = [options.torchmem, case.command, str(case.model), "--device", "virtual:h200", "--quiet",
                   *case.arguments]
        run_once(command)  # a first one, so that every run finds the files in the page cache
        runs = [run_once(command) for _ in range(options.runs)]
        wall, processor, resident = (sorted(figures) for figures in zip(*runs))
        on_disk = case.model.stat().st_blocks * 512
        above = statistics.median(resident) - on_disk
        print(f"{case.name}\n  file {case.model.stat().st_size / MIB:,.0f} MiB ({on_disk / MIB:,.0f} MiB on disk)")
        print(f"  wall      {statistics.median(wall):6.2f} s   ({wall[0]:.2f} to {wall[-1]:.2f})")
        print(f"  processor {statistics.median(processor):6.2f} s   ({processor[0]:.2f} to {processor[-1]:.2f})")
        print(
            f"  resident  {statistics.median(resident) / MIB:6.0f} MiB ({above / MIB:.0f} MiB above the file on disk)")
        if case.seconds and statistics.median(wall) > case.seconds:
            over += 1
            print(f"  over {case.seconds} s")
        if case.mib_above_file and above / MIB > case.mib_above_file:
            over += 1
            print(f"  over {case.mib_above_file} MiB above the file")
    sys.exit(1 if options.check and over else 0)


if __name__ == "__main__":
    main()
