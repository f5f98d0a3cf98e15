"""What a module of checks has in common: each function marked @check is run, and the outcome printed as "ok NAME" or
"failed NAME: ERROR"."""

import sys
import traceback

checks = []


def check(function):
    checks.append(function)
    return function


def run_checks():
    for function in checks:
        if len(sys.argv) > 1 and function.__name__ not in sys.argv[1:]:
            continue
        try:
            function()
            print("ok", function.__name__, flush=True)
        except Exception as error:
            traceback.print_exc()
            print(f"failed {function.__name__}: {type(error).__name__}: {error}".splitlines()[0], flush=True)
