"""Profiles TorchScript models through the command line and compares the allocator's statistics, at every point of every
run, with what it said on a real H200 (data/torchscript_h200.json). Whose the memory is at the peak must add up, leave
less than 0.1 % without an owner, and give each tensor of the model what its shape says.

    python3 torchscript_parity.py --torchmem BIN --models DIR [--device D] [--case REGEX] [--save DIR]

Without --case all cases run, and how many of them are equal is checked as well. Exit code 1 when something is further
off than it may be. --save keeps each run's JSON.
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
EQUAL_CASES = 20  # of 22: allocated and reserved, current and peak so far, at every point
PEAK_WITHIN = {"allocated": 0.001, "reserved": 0.01}
POINT_WITHIN = {"allocated": 0.002, "reserved": 0.01}
CONTEXT_WITHIN = 8 << 20  # what context, kernels and libraries hold on the device, at every point


def name_of(case):
    words = (case["model"], case["input"], case["mode"], case.get("optimizer"), case.get("autocast"))
    return " ".join(word for word in words if word)


def profile(torchmem, models, device, case, report):
    command = [torchmem, "profile", str(models / f"{case['model']}.pt"), "--device", device, "--input", case["input"]]
    command += ["--mode", case["mode"], "--steps", "3", "--quiet", "--top", "100000", f"--json={report}"]
    for option in ("optimizer", "autocast"):
        if option in case:
            command += [f"--{option}", case[option]]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        raise RuntimeError(f"exit code {ended.returncode}\n{ended.stderr[-3000:]}")
    return json.loads(report.read_text())


def attribution_faults(run):
    """What is wrong with whose the memory is at the peak."""
    peak = run["peak"]
    categories = peak["by_category"]
    faults = []
    if sum(categories.values()) != peak["allocated_bytes"]:
        faults.append(f"categories add up to {sum(categories.values())} of {peak['allocated_bytes']} B")
    if categories["other"] * 1000 > peak["allocated_bytes"]:
        faults.append(f"{categories['other']} B have no owner")
    blocks = {category: [block for block in peak["by_tensor"] if block["category"] == category]
              for category in categories}
    for category in ("parameters", "buffers"):
        stated = run["model"][category]
        known = blocks[category]
        if len(known) == stated["tensors"] and sum(block["requested_bytes"] for block in known) != stated["bytes"]:
            faults.append(f"{category} are {sum(block['requested_bytes'] for block in known)} B, not {stated['bytes']}")
        if not peak.get("other_tensors", {}).get("blocks") and len(known) != stated["tensors"]:
            faults.append(f"{len(known)} {category}, not {stated['tensors']}")
    sizes = {"f32": 4, "f16": 2, "bf16": 2, "i64": 8, "bool": 1, "u8": 1}
    for category in ("parameters", "buffers", "gradients", "optimizer_state", "inputs"):
        for block in blocks[category]:
            elements = 1
            for length in block["shape"]:
                elements *= length
            # cuDNN gives the gradients of a recurrent network as parts of one buffer, which has the first one's name.
            shares = category == "gradients" and block["requested_bytes"] > elements * sizes[block["dtype"]]
            if block["requested_bytes"] != elements * sizes[block["dtype"]] and not shares:
                faults.append(f"{block['name']} of {block['shape']} is {block['requested_bytes']} B")
            rounded = (block["requested_bytes"] + 511) // 512 * 512
            if not rounded <= block["bytes"] <= rounded + (1 << 20):
                faults.append(f"{block['name']} takes a block of {block['bytes']} B")
    return faults


def points_of(run):
    """The run's phases as the recorded points are written; the peaks so far are the largest of the phases' own."""
    peaks = {"allocated": 0, "reserved": 0}
    points = []
    for phase in run["phases"]:
        values = {"phase": phase["phase"], "iteration": phase.get("iteration"),
                  "requested": phase["requested_bytes"]["current"]}
        for kind in peaks:
            peaks[kind] = max(peaks[kind], phase[f"{kind}_bytes"]["peak"])
            values[kind] = phase[f"{kind}_bytes"]["current"]
            values[f"{kind}_peak"] = peaks[kind]
        values["context"] = phase["device_bytes"] - phase["reserved_bytes"]["current"]
        values["active"] = phase["active_bytes"]["current"]
        values["inactive_split"] = phase["inactive_split_bytes"]["current"]
        points.append(values)
    return points


def off_by(value, expected):
    return abs(value - expected) / expected if expected else float(value != expected)


def compare(points, recorded):
    """What is wrong beyond the bounds, whether all is equal, and the largest difference of each kind."""
    problems, equal, largest = [], True, {"allocated": 0.0, "reserved": 0.0}
    if [(p["phase"], p["iteration"]) for p in points] != [(p["phase"], p["iteration"]) for p in recorded]:
        return [f"points {[p['phase'] for p in points]}, expected {[p['phase'] for p in recorded]}"], False, largest
    for point, expected in zip(points, recorded):
        where = f"{point['phase']} {point['iteration']}"
        if point["requested"] != expected["requested"]:
            problems.append(f"{where}: requested {point['requested']}, expected {expected['requested']}")
        if abs(point["context"] - expected["context"]) > CONTEXT_WITHIN:
            problems.append(f"{where}: context {point['context']}, expected {expected['context']}")
        for kind in largest:
            for key in (kind, f"{kind}_peak"):
                equal &= point[key] == expected[key]
                distance = off_by(point[key], expected[key])
                largest[kind] = max(largest[kind], distance)
                if distance > POINT_WITHIN[kind]:
                    problems.append(f"{where}: {key} {point[key]}, expected {expected[key]}")
    for kind, bound in PEAK_WITHIN.items():
        if off_by(points[-1][f"{kind}_peak"], recorded[-1][f"{kind}_peak"]) > bound:
            problems.append(f"peak {kind} {points[-1][f'{kind}_peak']}, expected {recorded[-1][f'{kind}_peak']}")
    return problems, equal, largest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchmem", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("--device", default="virtual:h200")
    parser.add_argument("--case", default="")
    parser.add_argument("--save", type=pathlib.Path)
    options = parser.parse_args()

    truth = json.loads((HERE / "data" / "torchscript_h200.json").read_text())
    cases = [case for case in truth["cases"] if re.search(options.case, name_of(case))]
    if not cases:
        sys.exit(f"no case matches {options.case!r}")
    failed, equal_cases = 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.save or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for case in cases:
            recorded = [dict(zip(truth["point"], point)) for point in case["points"]]
            report = folder / (re.sub(r"\W+", "_", name_of(case)) + ".json")
            start = time.monotonic()
            try:
                run = profile(options.torchmem, options.models, options.device, case, report)
                problems, equal, largest = compare(points_of(run), recorded)
                problems += attribution_faults(run)
            except (RuntimeError, KeyError, OSError, json.JSONDecodeError) as error:
                problems, equal, largest = [repr(error)], False, {"allocated": 0.0, "reserved": 0.0}
            equal_cases += equal
            failed += bool(problems)
            said = "equal" if equal else ", ".join(f"{kind} off by up to {100 * off:.4f} %" for kind,
                                                   off in largest.items())
            print(f"{'FAIL' if problems else 'ok  '} {name_of(case):58} {said:32} {time.monotonic() - start:6.2f} s",
                  flush=True)
            for problem in problems[:8]:
                print(f"     {problem}")
    print(f"{equal_cases} of {len(cases)} cases equal at every point, {failed} failed")
    if not options.case and equal_cases < EQUAL_CASES:
        sys.exit(f"only {equal_cases} cases are equal, expected at least {EQUAL_CASES}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
