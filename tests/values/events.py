"""The allocator's events with values computed and without: the same, one by one, in all recorded runs.

    python3 events.py --torchmem BIN --models DIR --python PYTHON [--quick]

Of models with their addresses; of programs, whose address space is the process's own, actions and sizes. What is freed
in a row is compared as a whole: autocast's cache, and all that is left at the end, go in the order of host addresses,
which two runs alike have different. Exit code 1 when one differs.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

PARITY = pathlib.Path(__file__).parents[1] / "parity"
QUICK_MODELS, QUICK_PROGRAMS = 6, 1


def model_command(options, case):
    command = [options.torchmem, "profile", str(options.models / f"{case['model']}.pt"), "--device", "virtual:h200",
               "--input", case["input"]]
    command += ["--mode", case["mode"], "--steps", "3", "--quiet"]
    for option in ("optimizer", "autocast"):
        if option in case:
            command += [f"--{option}", case[option]]
    return command, [], {}


def program_command(options, case):
    words = case["spec"].split("|")
    settings = {"PYTORCH_CUDA_ALLOC_CONF": words[4]} if len(words) > 4 else {}
    program = [options.python, str(PARITY / "model_program.py"), "|".join(words[:4])]
    return [options.torchmem, "run", "--device", "virtual:h200", "--quiet"], ["--", *program], settings


def events(command, values, with_addresses):
    words, program, settings = command
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "run.pickle")
        ended = subprocess.run([*words, "--values", values, "--save", str(file), *program], capture_output=True,
                               text=True, env={**os.environ, **settings})
        if ended.returncode != 0:
            raise RuntimeError(f"exit code {ended.returncode}\n{ended.stderr[-2000:]}")
        traces = pickle.loads(file.read_bytes())["device_traces"]
    found = [(event["action"], event["size"], event["addr"] if with_addresses else 0) for trace in traces
             for event in trace]
    groups = itertools.groupby(found, key=lambda event: event[0].startswith("free"))
    return [event for is_free, group in groups for event in (sorted(group) if is_free else group)]


def compare(job):
    name, command, with_addresses = job
    try:
        small, none = (events(command, values, with_addresses) for values in ("small", "none"))
    except RuntimeError as error:
        return name, str(error), 0
    different = [i for i, (one, other) in enumerate(zip(small, none)) if one != other]
    if different or len(small) != len(none):
        at = different[0] if different else min(len(small), len(none))
        what = f"{small[at:at + 1]} with values, {none[at:at + 1]} without"
        return name, f"event {at} of {len(small)} and {len(none)}: {what}", len(small)
    return name, "", len(small)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchmem", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--python", required=True)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    models = json.loads((PARITY / "data/torchscript_h200.json").read_text())["cases"]
    programs = json.loads((PARITY / "data/python_h200.json").read_text())["cases"]
    if options.quick:
        models, programs = models[:: max(1, len(models) // QUICK_MODELS)], programs[:QUICK_PROGRAMS]
    jobs = [(case["model"], model_command(options, case), True) for case in models]
    jobs += [(case["spec"], program_command(options, case), False) for case in programs]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, fault, count in pool.map(compare, jobs):
            failed += bool(fault)
            print(f"{'FAIL' if fault else 'ok  '} {name}: {count} events {fault}", flush=True)
    print(f"{len(jobs) - failed} of {len(jobs)} the same with values and without")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
