"""Runs short programs on the CPU and on the virtual device and compares the ways that they take, line by line.

    python3 programs.py --torchmem BIN --python PYTHON [--quick | NAME...] [--check | --markdown] [--jobs N]

A program (programs/NAME.py) gets its device as argument and prints which way it took: iterations, branches, sizes. What
it does is the first line of its docstring. Both runs are under `torchmem run`, since PyTorch needs the vendor's
libraries to be imported at all. With --check the ways are also compared with the table in docs/values.md, with
--markdown that table is written. Exit code 1 when a way differs unexpectedly, is equal though it is named below, or a
program fails.
"""

import argparse
import ast
import concurrent.futures
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parents[1] / "docs/values.md"
BEGIN, END = "<!-- programs: begin -->", "<!-- programs: end -->"
SECONDS = 200  # for one run of one program; the slowest takes some ten
# Programs whose way is another one on the virtual device, and why. All others must be equal.
RANDOM = "drawn on the device: a generator of its own, as on a GPU"
LARGE = "decided by floats of large tensors, which are not computed"
RECURRENT = "cuDNN's recurrent networks are not computed"
LAYOUT = "the elements of nested and sparse tensors are not followed"
DIFFERS = {
    "embedding_bag": "the gradient of bags of embeddings is not computed",
    "encoder_fast_path": LAYOUT,
    "recurrent_training": RECURRENT,
    "sparse": LAYOUT,
    "detector": LARGE,
    "dropout_stopping": RANDOM,
    "generate_sampling": RANDOM,
    "gumbel_routing": RANDOM,
    "large_matrix": LARGE,
    "large_training": LARGE,
    "random_rejection": RANDOM,
    "top_p_sampling": RANDOM,
}
# Some of every kind, none that imports a large library but one.
QUICK = (
    "boolean_masks",
    "clip_with_skip",
    "ema_warmup",
    "generate_llama",
    "graph_counters",
    "item_loop",
    "large_matrix",
    "moe_routing",
    "packed_sequences",
    "resume_adam",
    "scalars",
    "script_in_program",
    "state_dict_roundtrip",
    "unique_and_nonzero",
)


@dataclasses.dataclass
class Ended:
    """The lines that a program printed, what went wrong (empty: nothing), and how long it took."""

    lines: list
    error: str
    seconds: float


def run(options, name, device):
    environment = {
        **os.environ,
        "PYTHONWARNINGS": "ignore",
        "TRANSFORMERS_VERBOSITY": "error",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        # The same instructions on every machine, so that sums of floats are the same.
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_CBWR": "AVX2",
    }
    command = [options.torchmem, "run", "--device", "virtual:h200", "--", options.python]
    command += [str(HERE / "programs" / f"{name}.py"), device]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            # Another folder, as some libraries leave files where they run.
            ended = subprocess.run(
                command, capture_output=True, text=True, env=environment, cwd=folder, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return Ended([], f"not ended after {SECONDS} s", SECONDS)
    error = (
        "" if ended.returncode == 0 else f"exit code {ended.returncode}\n{ended.stdout[-1000:]}{ended.stderr[-3000:]}"
    )
    if not error and not ended.stdout:
        error = "printed nothing"
    return Ended(ended.stdout.splitlines(), error, time.monotonic() - begin)


def run_both(options, name):
    """A program's ways on both devices, how long they took, and what is wrong with them (empty: nothing)."""
    cpu, virtual = (run(options, name, device) for device in ("cpu", "cuda"))
    faults = [
        f"on {device}: {ended.error}" for device, ended in (("the CPU", cpu), ("the device", virtual)) if ended.error
    ]
    if not faults:
        if name not in DIFFERS and cpu.lines != virtual.lines:
            shown = [("CPU:    ", cpu.lines), ("device: ", virtual.lines)]
            faults.append("\n".join(["another way", *("  " + what + line for what, lines in shown for line in lines)]))
        if name in DIFFERS and cpu.lines == virtual.lines:
            faults.append("the same way, though it is named as different")
    return cpu.lines, virtual.lines, f"({cpu.seconds:.1f} s and {virtual.seconds:.1f} s)", "\n".join(faults)


def docstring(name):
    return ast.get_docstring(ast.parse((HERE / "programs" / f"{name}.py").read_text())).splitlines()[0]


def cell(lines):
    return "<br>".join("`" + line.replace("|", "\\|") + "`" for line in lines)


def row(name, cpu, virtual):
    same = "the same" if cpu == virtual else cell(virtual)
    link = f"[{name}](../tests/values/programs/{name}.py)"
    return f"| {link} | {docstring(name)} | {cell(cpu)} | {same} | {DIFFERS.get(name, '')} |"


def table(rows):
    head = (
        "| program | what it does | way on a CPU | way on the virtual device | why another one |\n|---|---|---|---|---|"
    )
    equal = sum(name not in DIFFERS for name in rows)
    said = f"{len(rows)} programs, {equal} of them with the same way on both."
    return "\n".join([BEGIN, said, "", head, *rows.values(), END])


def committed():
    """The page's text before the table, the table, and the text after it."""
    text = PAGE.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{PAGE} has no place for the table: lines {BEGIN} and {END}, once each")
    before, rest = text.split(BEGIN)
    inside, after = rest.split(END)
    return before, BEGIN + inside + END, after


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--torchmem", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--quick", action="store_true", help="only those that take seconds")
    parser.add_argument("--check", action="store_true", help="compare with the table in docs/values.md too")
    parser.add_argument("--markdown", action="store_true", help="write the table into docs/values.md")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    # Programs run in another folder.
    options.torchmem, options.python = map(os.path.abspath, (options.torchmem, options.python))
    every = sorted(path.stem for path in (HERE / "programs").glob("*.py"))
    names = options.names or (QUICK if options.quick else every)
    unknown = [name for name in [*names, *QUICK, *DIFFERS] if name not in every]
    if unknown:
        sys.exit(f"no such programs: {unknown}")
    if options.markdown and list(names) != every:
        sys.exit("--markdown writes the whole table: give no names")
    if options.markdown or options.check:
        before, shown, after = committed()
    rows, failed = {}, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, (cpu, virtual, took, fault) in zip(names, pool.map(lambda name: run_both(options, name), names)):
            rows[name] = row(name, cpu, virtual)
            if not fault and options.check and rows[name] not in shown.splitlines():
                fault = f"not as in docs/values.md; run this with --markdown\n  {rows[name]}"
            print("failed" if fault else "ok", name, took, fault, flush=True)
            if fault:
                failed.append(name)
    if options.check and list(names) == every and not failed and shown != table(rows):
        failed.append("the table has other programs, or another order")
    print(f"{len(names) - len(failed)} passed, {len(failed)} failed", *failed)
    if options.markdown and not failed:
        PAGE.write_text(before + table(rows) + after)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
