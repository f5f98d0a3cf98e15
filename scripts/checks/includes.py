"""Which folder of src may use which, and who may include what from outside.

A folder is one step: it uses what comes before it, never what comes after. docs/architecture.md shows what is so.
"""

import posixpath
import re

# What each folder may include besides itself. `torchmem` is the public API in include/torchmem.
CORE = ['torchmem', 'text', 'run', 'analyze', 'report']
MAY_USE = {
    'torchmem': [],
    'text': [],
    'run': ['torchmem', 'text'],
    'analyze': ['torchmem', 'text', 'run'],
    'report': ['torchmem', 'text', 'run', 'analyze'],
    'request': ['torchmem', 'text', 'run', 'analyze'],
    'launch': [*CORE, 'request'],
    'study': [*CORE, 'request', 'launch'],
    'cli': [*CORE, 'request', 'launch', 'study'],
    # Nothing but how a process tells of itself, a header without includes of ours.
    'vgpu': ['run'],
    'values': [],
    'capture': ['torchmem', 'run', 'request', 'values'],
    'engine': ['torchmem', 'run', 'request', 'values', 'capture'],
    'agent': ['torchmem', 'run', 'request', 'values', 'capture'],
}

# Headers of others by the start of their names: the folders that may include them.
TORCH = ['values', 'capture', 'engine', 'agent']
OUTSIDE = {
    'CLI/': ['cli'],
    'torch/': TORCH,
    'ATen/': TORCH,
    'c10/': TORCH,
    'cuda': [*TORCH, 'vgpu'],
    'spdlog/spdlog': ['request', 'launch', 'study', 'cli'],
    'spdlog/sinks/': ['launch', 'cli'],
    # Not by public headers: users of the core have no fmt.
    'spdlog/fmt/': ['text', 'run', 'analyze', 'report', 'request', 'launch', 'study', 'cli'],
    'nlohmann/': [*CORE, 'request', 'launch', 'study', 'cli', 'capture', 'engine', 'agent', 'vgpu'],
}

# Headers of the public API that show types of nlohmann/json (docs/decisions.md says why these).
JSON_HEADERS = {
    'advice.h',
    'allocator_state.h',
    'baseline.h',
    'diff.h',
    'estimate.h',
    'report.h',
    'run.h',
    'run_info.h',
    'scenario.h',
}
API = 'include/torchmem/'

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(name):
    """The folder that a file of src or include belongs to."""
    parts = name.split('/')
    return parts[1] if len(parts) > 2 else ''


def included(tree, name):
    """(line, kind, header) of each #include of a file; kind is '<' or '"'."""
    for number, line in enumerate(tree.lines(name), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, *match.groups()


def resolved(tree, name, header):
    """The file of the checkout that a quoted header is, or None."""
    here = posixpath.dirname(name)
    roots = ['include', 'src', here]
    if name.startswith('src/vgpu/'):
        # A vendor's library sees its own folder and the device's core.
        roots += ['/'.join(name.split('/')[:3]), 'src/vgpu/device']
    for root in roots:
        path = posixpath.normpath(posixpath.join(root, header))
        if tree.exists(path):
            return path
        # A Python file that the build makes a header of.
        source = re.sub(r'_py\.h$', '.py', path)
        if source != path and tree.exists(source):
            return source
    return None


def uses(tree):
    """(file, line, its folder, the header's folder) for each header of ours that is included."""
    for name in tree.c_family('include', 'src'):
        for number, _, header in included(tree, name):
            path = resolved(tree, name, header)
            if path:
                yield name, number, folder_of(name), folder_of(path)


def check_json(tree):
    for name in tree.c_family('include'):
        shows = 'nlohmann' in tree.text(name)
        if shows and name.removeprefix(API) not in JSON_HEADERS:
            yield f'{name}: shows types of nlohmann/json, and is not among the headers that may (docs/decisions.md)'
        if not shows and name.removeprefix(API) in JSON_HEADERS:
            yield f'{name}: shows no types of nlohmann/json any more; take it off scripts/checks/includes.py'


def check(tree):
    yield from check_json(tree)
    folders = {folder_of(name) for name in tree.c_family('include', 'src')}
    for folder in sorted(folders - set(MAY_USE)):
        yield f'src/{folder}: which folders it may use is not said in scripts/checks/includes.py'
    for name, number, folder, other in uses(tree):
        if folder in MAY_USE and other != folder and other not in MAY_USE[folder]:
            allowed = ', '.join(MAY_USE[folder]) or 'nothing'
            yield f'{name}:{number}: src/{folder} includes a header of {other}; it may use {allowed}'
    for name in tree.c_family('include', 'src'):
        for number, kind, header in included(tree, name):
            if kind == '"' and not resolved(tree, name, header):
                yield f'{name}:{number}: no header "{header}" in the checkout; others\' are included with <>'
            for start, allowed in OUTSIDE.items():
                if kind == '<' and header.startswith(start) and folder_of(name) not in allowed:
                    yield f'{name}:{number}: <{header}> is included by {", ".join(allowed)} alone'
