#!/usr/bin/env python3
"""Writes docs/levers.md: what people say about CUDA memory, and what is measured.

    scripts/make_levers.py --torchmem BIN --python PYTHON --models DIR [--check] [--quick] [--only WORD]

Every command that the page shows is run, with --json, and every number of the page is read off what it says. A
sentence that a number could make untrue stands behind need(), which ends the script when the number is another. PYTHON
has PyTorch; DIR is what test_models/make_models.py makes. With --check the page is compared with the one in the
repository. With --only the sections whose title has WORD in it are made, and compared or printed; with --quick those
that take seconds. What is said of each claim is in scripts/levers.
"""

import argparse
import difflib
import pathlib
import sys
import tempfile

from levers.activations import checkpointing, in_place, mixed_precision
from levers.allocator import empty_cache, fragmentation
from levers.gradients import inference_batch, no_grad
from levers.optimizer import adam
from levers.page import ROOT, Runs, Section, Untrue, need, wrapped
from levers.releasing import deleting, gan

PAGE = ROOT / 'docs/levers.md'
SECTIONS = {
    '`no_grad` saves 30 to 50 %': no_grad,
    'With `no_grad`, BERT\'s batch goes from 16 to 32': inference_batch,
    '`del` does not change `memory_allocated`': deleting,
    'In-place activations halve memory': in_place,
    'Releasing between the steps of a GAN saves 40 %': gan,
    'Mixed precision halves memory': mixed_precision,
    'Checkpointing turns N activations into sqrt(N)': checkpointing,
    'Adam takes twice the parameters': adam,
    'Fragmentation makes 3 GiB fail with 4 GiB free': fragmentation,
    '`empty_cache` helps, or does not': empty_cache,
}
SLOW = (no_grad, inference_batch, mixed_precision)
HEAD = '''\
# What people say about memory, measured

Made by `scripts/make_levers.py`, which runs the commands below and reads every number off their JSON. A test makes this
page anew and compares.

All of it is PyTorch {torch} on an H200, by its virtual device: [accuracy.md](accuracy.md) says how exact that is. Peaks
are of *allocated* memory unless the text says *reserved*; what a run takes without PyTorch's allocator (the context) is
in neither. To run the commands yourself, make the models with `test_models/make_models.py DIR`, copy `scenarios/` into
DIR, and go there; without `--device` they measure the GPU that you have. To find what helps a model of your own, let
`torchmem advise` run all of it: [advise.md](advise.md).'''


def make_sections(runs, titles):
    """The text of each of these sections, by title."""
    made = {}
    for title, write in SECTIONS.items():
        if title in titles:
            section = Section(runs, title)
            write(section)
            made[title] = section.text()
    return made


def head(runs):
    software = [
        result['software']['torch']
        for result in runs.known.values()
        if isinstance(result, dict) and 'software' in result
    ]
    need(len(set(software)) == 1, 'all runs are of one PyTorch')
    return '\n\n'.join(map(wrapped, HEAD.format(torch=software[0]).split('\n\n')))


def in_repository(title):
    """That section of the page as it is."""
    text = PAGE.read_text() if PAGE.exists() else ''
    for part in ('\n' + text).split('\n## ')[1:]:
        if part.startswith(title + '\n'):
            return '## ' + part.rstrip() + '\n'
    return ''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--torchmem', required=True, type=pathlib.Path)
    parser.add_argument('--python', required=True, type=pathlib.Path)
    parser.add_argument('--models', required=True, type=pathlib.Path)
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--only', default='', metavar='WORD')
    options = parser.parse_args()
    titles = [
        title for title, write in SECTIONS.items() if options.only in title and not (options.quick and write in SLOW)
    ]
    some = len(titles) < len(SECTIONS)
    if not (options.models / 'bert.pt').exists():
        print(f'the test models are not made: there is no {options.models}/bert.pt')
        return 77
    if not titles:
        parser.error(f'no section has {options.only!r} in its title')
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(options.torchmem.resolve(), options.python.absolute(), options.models, pathlib.Path(folder))
        try:
            made = make_sections(runs, titles)
            if some:
                text = '\n'.join(section + '\n' for section in made.values())
            else:
                text = '\n\n'.join([head(runs), *made.values()]) + '\n'
        except Untrue as error:
            print(f'make_levers: {error}', file=sys.stderr)
            return 1
    if some and not options.check:
        print(text, end='')
        return 0
    if not options.check:
        PAGE.write_text(text)
        return 0
    there = '\n'.join(map(in_repository, made)) if some else PAGE.read_text() if PAGE.exists() else ''
    difference = list(
        difflib.unified_diff(there.splitlines(), text.splitlines(), 'docs/levers.md', 'measured now', lineterm='')
    )
    print('\n'.join(difference) if difference else f'{len(made)} sections are as measured')
    return 1 if difference else 0


if __name__ == '__main__':
    sys.exit(main())
