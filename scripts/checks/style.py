"""C and C++ are as .clang-format has them."""

import re
import shutil
import subprocess

# Versions differ in what they make of the same settings: the tree is formatted by this one.
VERSION = 14


class Missing(Exception):
    """A program that a check needs is not there, or is another."""


def formatter():
    for name in (f'clang-format-{VERSION}', 'clang-format'):
        if shutil.which(name):
            said = subprocess.run([name, '--version'], check=True, capture_output=True, text=True).stdout
            version = re.search(r'version (\d+)', said)
            if version and int(version.group(1)) == VERSION:
                return name
    raise Missing(f'there is no clang-format {VERSION}, which formats this tree')


def check(tree):
    program = formatter()
    names = list(tree.c_family())
    done = subprocess.run([program, '--dry-run', *names], cwd=tree.root, capture_output=True, text=True)
    # One complaint a file says what to do; the formatter has one for each place.
    wrong = dict.fromkeys(line.split(':')[0] for line in done.stderr.splitlines() if ': warning: ' in line)
    for name in wrong:
        yield f'{name}: not as .clang-format has it; {program} -i {name} formats it'
    if done.returncode:
        yield f'{program} failed: {done.stderr.strip()}'
