"""Random small programs of integer, boolean and float operators: the device's values against the CPU's.

    torchmem run --device virtual:h200 -- python3 fuzz.py [N] [SEED] [--only K]

A program is 5 to 20 lines of Python on small tensors: views, writes through views, sizes that depend on values, reads
in between. It runs on "cpu" and on "cuda", and every tensor and every number that was read must be equal to the last
bit. The first programs that are not are made as short as they can be and printed as scripts. Program K of a SEED is
always the same one; --only prints it and runs it alone. Exit code 1 when one differs.
"""

import argparse
import collections
import random
import re
import sys
import warnings

import torch

from fuzz_operators import TABLES
from fuzz_program import Maker

warnings.simplefilter("ignore")
SHOWN = 8  # failures that are made short and printed


def results(lines, device):
    """What the names hold after the program, tensors on the CPU; raises what the program raises."""
    scope = {"torch": torch, "device": device}
    exec(compile("\n".join(lines), "program", "exec"), scope)
    return {
        name: value.cpu() if isinstance(value, torch.Tensor) else value
        for name, value in scope.items()
        if re.fullmatch(r"[tr]\d+", name)
    }


def equal(one, other):
    if not isinstance(one, torch.Tensor):
        return type(one) is type(other) and one == other
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.is_floating_point():
        return torch.equal(one, other)
    nan = one.isnan()
    return bool(torch.where(nan, other.isnan(), (one == other) & (one.signbit() == other.signbit())).all())


def difference(lines):
    """Nothing if both devices agree; else the first name that differs and its two values. Raises what it raises on the
    CPU.
    """
    expected = results(lines, "cpu")
    try:
        found = results(lines, "cuda")
    except Exception as error:
        return "error", "", f"{type(error).__name__}: {error}".splitlines()[0]
    for name, value in expected.items():
        if not equal(value, found[name]):
            return name, value, found[name]
    return None


def shortened(lines, found):
    """The same failure with every line left out that is not needed, and what differs then."""
    kind = found[0] == "error"
    again = True
    while again:
        again = False
        for index in reversed(range(len(lines))):
            fewer = lines[:index] + lines[index + 1 :]
            try:
                still = difference(fewer)
            except Exception:  # that line is needed
                still = None
            if still and (still[0] == "error") == kind:
                lines, found, again = fewer, still, True
    return lines, found


def script(lines):
    return "\n".join(["import sys", "import torch", "device = sys.argv[1]", *lines])


def report(number, seed, lines, found):
    lines, (name, expected, value) = shortened(lines, found)
    print(f"\n# program {number} of seed {seed}: {name} differs", end="")
    print("" if difference(lines) else ", but not when it runs once more: what ran before it matters")
    print(f"# CPU:    {expected}\n# device: {value}".replace("\n  ", "\n#   "))
    print(script(lines) + (f"\nprint({name})" if name != "error" else ""), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("count", nargs="?", type=int, default=300, metavar="N")
    parser.add_argument("seed", nargs="?", type=int, default=0)
    parser.add_argument("--only", type=int, metavar="K", help="print program K and run it alone")
    parser.add_argument("--unused", action="store_true", help="say which templates no program used")
    options = parser.parse_args()
    torch.set_num_threads(1)
    failed, lines_run, used = [], 0, collections.Counter()
    for number in range(options.count) if options.only is None else [options.only]:
        maker = Maker(random.Random(f"{options.seed} {number}"))
        lines = maker.make()
        used.update(maker.used)
        lines_run += len(lines)
        if options.only is not None:
            print(script(lines))
        try:
            found = difference(lines)
        except Exception as error:
            sys.exit(f"program {number} of seed {options.seed} does not run on the CPU: {error}\n{script(lines)}")
        if found:
            failed.append(number)
            if len(failed) <= SHOWN:
                report(number, options.seed, lines, found)
    if options.unused:
        print("unused:", *(line for lines in TABLES.values() for line in lines if line not in used), sep="\n  ")
    print(f"{options.count} programs, {lines_run} lines of {len(used)} kinds, {len(failed)} differ {failed[:50]}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
