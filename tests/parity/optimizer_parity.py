"""Compares the engine's foreach and fused optimizers with Python's torch.optim in the same forms on the same virtual
GPU: requested, allocated and reserved bytes, current and peak, must be equal at the end of every phase.

    python3 optimizer_parity.py --torchmem BIN --python PYTHON --models DIR
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
FORMS = [(name, form) for name in ("sgd", "momentum", "adam", "adamw") for form in ("foreach", "fused")]
FORMS += [("rmsprop", "foreach"), ("adagrad", "foreach")]
MODEL, SHAPE = "mlp", "64x784"


def checked(command):
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {ended.returncode}\n{ended.stderr[-3000:]}")
    return ended.stdout


def python_rows(options, model, optimizer, form):
    command = [options.torchmem, "run", "--device", "virtual:h200", "--", options.python]
    command += [str(HERE / "optimizer_program.py"), str(model), SHAPE, optimizer, form]
    return json.loads([line for line in checked(command).splitlines() if line.startswith("[")][-1])


def engine_rows(options, model, optimizer, form):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "run.json")
        command = [options.torchmem, "profile", str(model), "--input", f"f32:{SHAPE}", "--device", "virtual:h200"]
        checked(command + ["--optimizer", f"{optimizer}:{form}", f"--json={report}"])
        phases = json.loads(report.read_text())["phases"]
    return [[phase["phase"], phase.get("iteration"), phase] for phase in phases]


def differences(expected, got):
    if [row[:2] for row in expected] != [row[:2] for row in got]:
        return ["the phases are not the same"]
    found = []
    for (phase, iteration, values), (_, _, measured) in zip(expected, got):
        for name, (current, peak) in values.items():
            for word, value in (("current", current), ("peak", peak)):
                if measured[name][word] != value:
                    found.append(f"{phase} {iteration}: {name} {word} {measured[name][word]}, torch.optim {value}")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--torchmem", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    options = parser.parse_args()
    model = options.models / f"{MODEL}.pt"
    if not model.exists() or not pathlib.Path(options.python).exists():
        print(f"skipped: there is no {model} or no {options.python}")
        return 77
    failed = 0
    for optimizer, form in FORMS:
        found = differences(
            python_rows(options, model, optimizer, form), engine_rows(options, model, optimizer, form)
        )
        print(f"{optimizer}:{form}", "equal" if not found else "differs\n  " + "\n  ".join(found))
        failed += bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
