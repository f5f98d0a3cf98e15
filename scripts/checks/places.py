"""Command-line tests lie in folders, and every shared stream is used."""

import pathlib
import re

TESTS = 'tests/cli'


def check(tree):
    used = set()
    for name in tree.below(TESTS):
        path = pathlib.PurePath(name)
        if path.suffix == '.test':
            used.update(re.findall(r'^--- fake-engine (\S+)', tree.text(name), re.MULTILINE))
            if str(path.parent) == TESTS:
                yield f'{name}: move it to the folder of its command ({TESTS}/README.md)'
    for name in tree.below(f'{TESTS}/streams'):
        if pathlib.PurePath(name).stem not in used:
            yield f'{name}: no test plays it'
