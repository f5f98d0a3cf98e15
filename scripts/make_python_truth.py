#!/usr/bin/env python3
"""Makes tests/parity/data/python_h200.json of the JSON lines that tests/parity/model_program.py printed on a real
device, or of a file that holds them as {"cases": [{"spec", "rows", "rows_of_another_run"?}]}.

    scripts/make_python_truth.py RECORDED... >tests/parity/data/python_h200.json

The result has one line for each case: its spec and, for each different run of it, the rows.
"""

import json
import sys

POINT_AND_COLUMNS = ["point", "allocated", "allocated_peak", "reserved", "reserved_peak", "requested", "inactive_split"]


def read(path):
    """Yields (spec, rows)."""
    text = open(path).read()
    if '"cases"' in text:
        for case in json.loads(text)["cases"]:
            for key in ("rows", "rows_of_another_run"):
                if key in case:
                    yield case["spec"], case[key]
        return
    for line in text.splitlines():
        if line.startswith("{"):
            run = json.loads(line)
            yield run["spec"], run["rows"]


def main():
    runs = {}
    for path in sys.argv[1:]:
        for spec, rows in read(path):
            known = runs.setdefault(spec, [])
            if rows not in known:
                known.append(rows)
    print('{"device": "NVIDIA H200", "torch": "2.11.0+cu130", "cudnn": 91900,')
    print(' "row": %s,' % json.dumps(POINT_AND_COLUMNS))
    print(' "cases": [')
    lines = [json.dumps({"spec": spec, "runs": rows}, separators=(",", ":")) for spec, rows in runs.items()]
    print(",\n".join(lines))
    print("]}")


main()
