#!/usr/bin/env python3
"""`profile --summary` prints what torch.cuda.memory_summary() prints for the same statistics, to the byte.

PyTorch's own code is read from torch/cuda/memory.py and run on made-up statistics, without importing torch.
"""
import argparse
import ast
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
POOLED = ['allocation', 'segment', 'active', 'inactive_split', 'allocated_bytes', 'reserved_bytes', 'active_bytes',
          'inactive_split_bytes', 'requested_bytes']


def python_summary(torch, flat, device):
    tree = ast.parse((torch / 'cuda/memory.py').read_text())
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == 'memory_summary')
    function.args.args = [ast.arg(arg.arg) for arg in function.args.args]
    function.returns = None
    scope = {'_get_device_index': lambda device, optional: device, 'memory_stats': lambda device: flat}
    exec(compile(ast.fix_missing_locations(ast.Module([function], [])), 'memory.py', 'exec'), scope)
    return scope['memory_summary'](device)


def statistics(generator, largest):
    """Nested statistics whose numbers have all sizes up to about `largest`."""
    def stat():
        return {name: generator.randrange(int(largest ** generator.random()) + 1)
                for name in ('current', 'peak', 'allocated', 'freed')}
    result = {name: {pool: stat() for pool in ('all', 'small_pool', 'large_pool')} for name in POOLED}
    result.update({name: stat() for name in ('oversize_allocations', 'oversize_segments')})
    result.update(num_ooms=generator.randrange(100), num_alloc_retries=generator.randrange(10 ** 9))
    return result


def flatten(nested, prefix=''):
    flat = {}
    for name, value in nested.items():
        flat.update(flatten(value, prefix + name + '.') if isinstance(value, dict) else {prefix + name: value})
    return flat


def our_summary(torchmem, folder, nested):
    records = ['torchmem-stream 1', 'M {"device":{"kind":"virtual"}}', 'E segment_alloc 0 4096 2097152 0 1 -',
               'P ' + json.dumps({'phase': 'load', 'events': 1, 'statistics': nested}), 'Z {"segments":[]}']
    (folder / 'records').write_text('\n'.join(records) + '\n')
    environment = dict(os.environ, TORCHMEM_ENGINE=str(HERE / 'fake_engine.py'),
                       FAKE_ENGINE_RECORDS=str(folder / 'records'))
    return subprocess.run([torchmem, 'profile', HERE.parent / 'data/P11.pt', '--summary', '--device', 'virtual'],
                          check=True,
                          env=environment, capture_output=True, text=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--torchmem', required=True, type=pathlib.Path)
    parser.add_argument('--torch', required=True, type=pathlib.Path, help='the folder of the installed package')
    arguments = parser.parse_args()
    generator = random.Random(1)
    with tempfile.TemporaryDirectory() as scratch:
        for largest in [0, 1, 500, 10 ** 6, 800_000 * 1024, 2 ** 40, 2 ** 44, 2 ** 52]:
            for _ in range(2):
                nested = statistics(generator, largest)
                expected = python_summary(arguments.torch, flatten(nested), 0)
                actual = our_summary(arguments.torchmem, pathlib.Path(scratch), nested)
                if actual != expected:
                    print(f'differs for {json.dumps(nested)}\n--- PyTorch\n{expected}--- torchmem\n{actual}')
                    return 1
    print('16 tables are equal')
    return 0


sys.exit(main())
