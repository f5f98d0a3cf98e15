#!/usr/bin/env python3
"""A run file is a snapshot for everyone else: Python's pickle reads it, and PyTorch's _memory_viz.py plots it.

PyTorch's file is loaded by itself, without importing torch.
"""
import argparse
import importlib.util
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RECORDS = """torchmem-stream 1
M {"device":{"kind":"virtual"},"allocator_settings":{"PYTORCH_CUDA_ALLOC_CONF":"","max_split_size":-1}}
F 0 [{"filename":"model.py","line":3,"name":"forward"},{"filename":"main.py","line":1,"name":"<module>"}]
E segment_alloc 0 140000000000000 2097152 0 10 0
E alloc 0 140000000000000 100 0 11 0
B 1 512
E alloc 0 140000000000512 3000 0 12 -
B 2 3072
P {"phase":"load","events":3,"allocated_bytes":{"current":3584,"peak":3584},"reserved_bytes":{"current":2097152,"peak":2097152}}
E free_requested 0 140000000000000 100 0 13 0
E free_completed 0 140000000000000 100 0 14 0
!kill SIGKILL
"""


def load(torch, name):
    spec = importlib.util.spec_from_file_location(name, torch / 'cuda' / (name + '.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--torchmem', required=True, type=pathlib.Path)
    parser.add_argument('--torch', required=True, type=pathlib.Path, help='the folder of the installed package')
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / 'records').write_text(RECORDS)
        environment = dict(os.environ, TORCHMEM_ENGINE=str(HERE / 'fake_engine.py'),
                           FAKE_ENGINE_RECORDS=str(folder / 'records'))
        done = subprocess.run([arguments.torchmem, 'profile', HERE.parent / 'data/P11.pt', '--device', 'virtual', '--save',
                               folder / 'run.pickle'], env=environment, capture_output=True, text=True)
        assert done.returncode == 2, done
        assert 'SIGKILL' in done.stderr, done.stderr
        snapshot = pickle.loads((folder / 'run.pickle').read_bytes())
    assert list(snapshot) == ['segments', 'device_traces', 'allocator_settings', 'external_annotations', 'torchmem']
    trace = snapshot['device_traces'][0]
    assert [event['action'] for event in trace] == ['segment_alloc', 'alloc', 'alloc', 'free_requested', 'free_completed']
    assert trace[1]['frames'][0] == {'name': 'forward', 'filename': 'model.py', 'line': 3}
    # The process was killed, so the segments are those that the trace leads to.
    segment, = snapshot['segments']
    assert segment['allocated_size'] == 3072 and segment['requested_size'] == 3000, segment
    assert [block['state'] for block in segment['blocks']] == ['inactive', 'active_allocated', 'inactive'], segment
    viz = load(arguments.torch, '_memory_viz')
    for page in (viz.trace_plot(snapshot), viz.segment_plot(snapshot)):
        assert '<' in page
    assert viz.trace(snapshot)
    assert viz.segsum(snapshot)
    print('read by pickle and by _memory_viz.py')
    return 0


sys.exit(main())
