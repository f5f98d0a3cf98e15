#!/usr/bin/env python3
"""A run file is a snapshot for everyone else: Python's pickle reads it, and PyTorch's _memory_viz.py finds the totals
in it that torchmem states.

PyTorch's file is loaded by itself, without importing torch.
"""
import argparse
import base64
import collections
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import pickle
import re
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
P {"phase":"load","events":3,"allocated_bytes":{"current":3584,"peak":3584},\
"reserved_bytes":{"current":2097152,"peak":2097152}}
E free_requested 0 140000000000000 100 0 13 0
E free_completed 0 140000000000000 100 0 14 0
!kill SIGKILL
"""
NOTHING = {'schema': 'torchmem.profile/1', 'phases': [],
           'peak': {'allocated_bytes': 0, 'reserved_bytes': 0, 'by_category': {'parameters': 1}, 'by_module': [],
                    'by_op': [],
                    'by_line': []}}


def load(torch, name):
    spec = importlib.util.spec_from_file_location(name, torch / 'cuda' / (name + '.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_it_is(lines):
    """In place of format_flamegraph, which downloads a script."""
    return lines


def killed_run(torchmem, viz, folder):
    (folder / 'records').write_text(RECORDS)
    environment = dict(os.environ, TORCHMEM_ENGINE=str(HERE / 'fake_engine.py'),
                       FAKE_ENGINE_RECORDS=str(folder / 'records'))
    done = subprocess.run([torchmem, 'profile', HERE.parent / 'data/P11.pt', '--device', 'virtual', '--save',
                           folder / 'killed.pickle'],
                          env=environment, capture_output=True, text=True)
    assert done.returncode == 2, done
    assert 'SIGKILL' in done.stderr, done.stderr
    snapshot = pickle.loads((folder / 'killed.pickle').read_bytes())
    assert list(snapshot) == ['segments', 'device_traces', 'allocator_settings', 'external_annotations', 'torchmem']
    trace = snapshot['device_traces'][0]
    assert [event['action'] for event in trace] == ['segment_alloc', 'alloc', 'alloc', 'free_requested',
                                                    'free_completed']
    assert trace[1]['frames'][0] == {'name': 'forward', 'filename': 'model.py', 'line': 3}
    # The process was killed, so the segments are those that the trace leads to.
    segment, = snapshot['segments']
    assert segment['allocated_size'] == 3072 and segment['requested_size'] == 3000, segment
    assert [block['state'] for block in segment['blocks']] == ['inactive', 'active_allocated', 'inactive'], segment
    for page in (viz.trace_plot(snapshot), viz.segment_plot(snapshot)):
        assert '<' in page
    assert viz.trace(snapshot)
    assert viz.segsum(snapshot)


def torchmem_json(torchmem, *arguments):
    return json.loads(subprocess.run([torchmem, *arguments, '--json'], check=True, capture_output=True,
                                     text=True).stdout)


def real_run(torchmem, folder, name, mode):
    path = folder / name
    subprocess.run([torchmem, 'profile', HERE.parent.parent / 'test_models/transformer.pt', '--input',
                    'i64:4x64:below=1000',
                    '--device', 'virtual', '--mode', mode, '--save', path], check=True, capture_output=True)
    return path


def flamegraph_sums(lines, key):
    """Bytes by what `key` makes of a line's frames; a line is 'frame;...;frame bytes'."""
    sums = collections.Counter()
    for line in lines.splitlines():
        frames, _, size = line.rpartition(' ')
        sums[key(frames.split(';'))] += int(size)
    return sums


def check_end(torchmem, viz, path):
    """What PyTorch says of the segments at the end is what torchmem says."""
    snapshot = pickle.loads(path.read_bytes())
    end = torchmem_json(torchmem, 'inspect', path)['devices'][0]['end']
    allocated, requested, reserved = end['allocated_bytes'], end['requested_bytes'], end['reserved_bytes']
    assert end['active_bytes'] == allocated, 'a block still waits for a stream'
    summary = viz.segsum(snapshot)  # adds the segments up itself, and raises where that fails
    stated = dict(re.findall(r'^(segments|total_\w+): (\S+)', summary, re.MULTILINE))
    assert stated['segments'] == str(end['segments'])
    for name, size in (('total_reserved', reserved), ('total_allocated', requested),
                       ('total_free', reserved - requested)):
        assert stated[name] == repr(viz.Bytes(size)), (name, stated, size)

    by_segment = flamegraph_sums(viz.segments(snapshot, format_flamegraph=as_it_is), lambda frames: frames[1])
    assert by_segment == {f"seg_{segment['address']}": segment['total_size'] for segment in snapshot['segments']}
    assert sum(by_segment.values()) == reserved
    memory = viz.memory(snapshot, format_flamegraph=as_it_is)
    by_state = flamegraph_sums(memory, lambda frames: (frames[1], frames[2] == '<gaps>'))
    assert by_state['active_allocated', False] == requested, by_state
    assert by_state['active_allocated', False] + by_state['active_allocated', True] == allocated
    assert by_state['inactive', False] + by_state['inactive', True] == end['inactive_bytes']
    return snapshot


def blocks_at_peak(snapshot):
    """Blocks alive at the first moment of the most allocated bytes, as a snapshot has them, and their categories."""
    ours = snapshot['torchmem']
    sizes, savers = iter(ours['block_sizes'][0]), iter(ours['saved_by'][0])
    alive, now, most, at_peak = {}, 0, 0, {}
    for event in snapshot['device_traces'][0]:
        if event['action'] == 'alloc':
            size, saver = next(sizes), next(savers)
            is_saved = event['category'] == 'activations' and saver
            alive[event['addr']] = {'size': size, 'requested_size': event['size'], 'state': 'active_allocated',
                                    'category': event['category'], 'frames': saver if is_saved else event['frames']}
            now += size
        elif event['action'] == 'free_requested':
            block = alive.pop(event['addr'])
            assert event['category'] == block['category'], event
            now -= block['size']
        if now > most:
            most, at_peak = now, dict(alive)
    return list(at_peak.values())


def first(prefix, otherwise):
    """Of a line's frames (outermost first) the text of the first that begins so."""
    def key(frames):
        return next((frame[len(prefix):] for frame in frames if frame.startswith(prefix)), otherwise)
    return key


def check_peak(torchmem, viz, path, snapshot, folder):
    """Owners of the bytes at the peak: torchmem's against PyTorch's sums of the same blocks' frames."""
    (folder / 'nothing.json').write_text(json.dumps(NOTHING))
    document = torchmem_json(torchmem, 'diff', folder / 'nothing.json', path)
    stated = {part: {change['name']: change['after_bytes'] for change in document[part]['changes']
                     if change['after_bytes']}
              for part in ('peak', 'categories', 'modules', 'ops')}
    blocks = blocks_at_peak(snapshot)
    for block in blocks:
        block['requested_size'] = block['size']  # lines of whole blocks, without gaps
    lines = viz.memory({'segments': [{'stream': 0, 'blocks': blocks}]}, format_flamegraph=as_it_is)
    node = 'autograd::engine::evaluate_function: '
    by_op = collections.Counter()
    for name, size in flamegraph_sums(lines, first('<op>:0:', '')).items():
        by_op[name.removeprefix(node)] += size
    assert stated['ops'] == by_op, (stated['ops'], by_op)
    by_module = collections.Counter()
    for name, size in flamegraph_sums(lines, first('<module>:0:', '')).items():
        by_module[name.rpartition(' (')[0]] += size
    assert stated['modules'] == by_module, (stated['modules'], by_module)
    by_category = collections.Counter()
    for block in blocks:
        by_category[block['category']] += block['size']
    assert stated['categories'] == by_category, (stated['categories'], by_category)
    assert sum(by_category.values()) == stated['peak']['allocated']
    return by_category


def check_plots(viz, snapshot):
    """The pages carry the whole snapshot, with each event's category."""
    for page in (viz.trace_plot(snapshot), viz.segment_plot(snapshot)):
        data = json.loads(re.search(r'^const local_files = (.*)$', page, re.MULTILINE).group(1))
        assert pickle.loads(base64.b64decode(data[0]['base64'])) == snapshot
    entries = re.search(r'^(\d+) entries$', viz.trace(snapshot), re.MULTILINE)
    assert int(entries.group(1)) == len(snapshot['device_traces'][0])
    for event in snapshot['device_traces'][0]:
        assert ('category' in event) == (event['action'] in ('alloc', 'free_requested', 'free_completed')), event


def check_compare(viz, before, after):
    keys = lambda snapshot: {(segment['address'], segment['total_size']) for segment in snapshot['segments']}
    only = {'only_before': keys(before) - keys(after), 'only_after': keys(after) - keys(before)}
    with contextlib.redirect_stdout(io.StringIO()):
        lines = viz.compare(before['segments'], after['segments'], format_flamegraph=as_it_is)
    expected = {side: sum(size for _, size in segments) for side, segments in only.items() if segments}
    assert flamegraph_sums(lines, lambda frames: frames[0]) == expected
    return expected


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--torchmem', required=True, type=pathlib.Path)
    parser.add_argument('--torch', required=True, type=pathlib.Path, help='the folder of the installed package')
    arguments = parser.parse_args()
    viz = load(arguments.torch, '_memory_viz')
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        killed_run(arguments.torchmem, viz, folder)
        snapshots = []
        for mode in ('train', 'inference'):
            path = real_run(arguments.torchmem, folder, mode + '.pickle', mode)
            snapshots.append(check_end(arguments.torchmem, viz, path))
            categories = check_peak(arguments.torchmem, viz, path, snapshots[-1], folder)
            if mode == 'train':
                assert len(categories) >= 4, categories
            check_plots(viz, snapshots[-1])
        differing = check_compare(viz, *snapshots)
        assert differing, 'training and inference hold the same segments'
    print('read by pickle and by _memory_viz.py, with the same totals')
    return 0


sys.exit(main())
