"""Compares the answers of `torchmem fit` with those of running every batch.

    python3 fit_brute_force_test.py --torchmem BIN --models DIR [--quick]

For each model and limit every batch from 1 to well above the answer is run, each with a fresh allocator and the same
limit. `--quick` takes only the small case that needs no made model.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Model, input, options, limit, batches up to.
QUICK = [(ROOT / "tests/data/P23.pt", "f32:Bx1024x1024", ["--mode", "inference"], "60MiB", 10)]
CASES = [
    (ROOT / "tests/data/P23.pt", "f32:Bx1024x1024", ["--mode", "grad-forward"], "300MiB", 40),
    ("mlp.pt", "f32:Bx784", ["--optimizer", "sgd"], "230MiB", 200),
    ("lstm.pt", "i64:Bx32:below=10000", ["--mode", "inference"], "400MiB", 150),
    ("unet.pt", "f32:Bx3x128x128", [], "500MiB", 40),
    ("dcgan.pt", "f32:Bx100x1x1", ["--optimizer", "adam:foreach"], "200MiB", 200),
    ("resnet18.pt", "f32:Bx3x64x64", [], "500MiB", 160),
]


def run(command):
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(map(str, command))}\nended with {ended.returncode}\n{ended.stderr[-2000:]}")
    return json.loads(ended.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--torchmem", required=True, type=pathlib.Path)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if not (options.torchmem.parent / "torchmem-engine").exists():
        print("there is no engine")
        return 77
    if not options.quick and not (options.models / "done").exists():
        print("the test models are not made")
        return 77
    failed = 0
    for model, given, more, limit, most in QUICK if options.quick else CASES:
        common = [options.models / model, "--input", given, "--limit", limit, "--device", "virtual:h200", "--json",
                  *more]
        variants = [word for batch in range(1, most + 1) for word in ("--variant", f"batch={batch}")]
        every = run([options.torchmem, "compare", *common, *variants, "--no-attribution"])["variants"]
        fits = [batch for batch, variant in enumerate(every, 1) if variant["error"] is None]
        found = run([options.torchmem, "fit", *common])["results"][0]
        good = found["largest"] == max(fits, default=None) and (not fits or max(fits) < most)
        failed += not good
        holes = max(fits, default=0) - len(fits)
        print(
            f"{'ok  ' if good else 'FAIL'} {pathlib.Path(model).name} {limit}: "
            f"fit {found['largest']} in {len(found['trials'])} runs, "
            f"all of 1 to {most}: {max(fits, default=None)} ({holes} smaller ones do not fit)", flush=True)
    return 1 if failed else 0


sys.exit(main())
