"""clang-tidy has nothing to say: of the core's files, and of files that use LibTorch where they were changed.

A file takes seconds, one with LibTorch's headers half a minute. So a run looks at what was changed (the commits since
`since`, and what is not committed), begins nothing new when its time is over, and remembers in the build folder what
was found clean, by the text of the file and of all headers of ours that it includes. `everything` looks at the whole
core, whatever time it takes.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import time

from . import includes
from .style import Missing

CORE = ('src/text', 'src/run', 'src/analyze', 'src/report', 'src/request', 'src/launch', 'src/study', 'src/cli')
SECONDS = 75
REMEMBERED = 'clang_tidy_clean.json'


def git(tree, *arguments):
    done = subprocess.run(['git', '-C', str(tree.root), *arguments], capture_output=True, text=True)
    return done.stdout.split() if done.returncode == 0 else []


def changed(tree, since):
    """Names of files that differ from that commit; without one, from where the branch left its upstream, or from the
    commit before.
    """
    for commit in [since] if since else [*git(tree, 'merge-base', 'HEAD', '@{upstream}'), 'HEAD~1', 'HEAD']:
        if not git(tree, 'rev-parse', '--verify', '--quiet', commit + '^{commit}'):
            if since:
                raise Missing(f'git knows no commit {since}')
            continue
        names = git(tree, 'diff', '--name-only', commit)
        if names or since:
            return {*names, *git(tree, 'ls-files', '--others', '--exclude-standard')}
    return set(git(tree, 'ls-files', '--others', '--exclude-standard'))


def chosen(tree, everything, since):
    """The .cpp files to look at; a header counts as the file of its name."""
    names = changed(tree, since)
    units = {name for name in tree.below('src') if name.endswith('.cpp')}
    of_changed = {str(pathlib.PurePath(name).with_suffix('.cpp')) for name in names if name.endswith(('.cpp', '.h'))}
    of_core = {name for name in units if name.startswith(tuple(folder + '/' for folder in CORE))}
    return sorted((units & of_changed) | (of_core if everything else set()))


def fingerprint(tree, name):
    """Of all that is ours and that a look at this file sees."""
    seen, left = set(), [name, '.clang-tidy']
    while left:
        one = left.pop()
        if one in seen or not tree.exists(one):
            continue
        seen.add(one)
        headers = (includes.resolved(tree, one, header) for _, _, header in includes.included(tree, one))
        left += [path for path in headers if path]
    digest = hashlib.sha256()
    for one in sorted(seen):
        digest.update(one.encode() + b'\0' + (tree.root / one).read_bytes())
    return digest.hexdigest()


def look(tree, build, name):
    """What clang-tidy says of a file. The flags may be another compiler's."""
    done = subprocess.run(
        ['clang-tidy', '-p', str(build), '--quiet', '--extra-arg=-Wno-unknown-warning-option',
         '--extra-arg=-Wno-ignored-optimization-argument', name],
        cwd=tree.root, capture_output=True, text=True)
    said = [line.removeprefix(f'{tree.root}/') for line in done.stdout.splitlines() if ': error: ' in line]
    if done.returncode and not said:
        said = [f'{name}: clang-tidy failed: {(done.stderr.strip() or done.stdout.strip())[-500:]}']
    return said


def without_precompiled_headers(build, database):
    """A folder with the same commands, but for the headers that another compiler has compiled."""
    entries = json.loads(database.read_text())
    for entry in entries:
        given = iter(shlex.split(entry.pop('command', '')) or entry.get('arguments', []))
        entry['arguments'] = []
        for word in given:
            if word == '-include':
                file = next(given)
                if not file.endswith('cmake_pch.hxx'):
                    entry['arguments'] += [word, file]
            elif word != '-Winvalid-pch':
                entry['arguments'].append(word)
    folder = pathlib.Path(build, 'clang-tidy')
    folder.mkdir(exist_ok=True)
    (folder / 'compile_commands.json').write_text(json.dumps(entries))
    return folder


def check(tree, build, everything=False, since=None, say=print):
    database = pathlib.Path(build, 'compile_commands.json')
    if not shutil.which('clang-tidy'):
        raise Missing('there is no clang-tidy')
    if not database.exists():
        raise Missing(f'{build} has no compile_commands.json: configure it first (scripts/setup), or give --build')
    built = {os.path.relpath(entry['file'], tree.root) for entry in json.loads(database.read_text())}
    memory = pathlib.Path(build, REMEMBERED)
    clean = json.loads(memory.read_text()) if memory.exists() else {}
    prints = {name: fingerprint(tree, name) for name in chosen(tree, everything, since) if name in built}
    left = [name for name in prints if clean.get(name) != prints[name]]
    complaints, late = [], []
    commands = without_precompiled_headers(build, database)
    end = time.monotonic() + SECONDS

    def in_time(name):
        return None if time.monotonic() > end and not everything else look(tree, commands, name)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, said in zip(left, pool.map(in_time, left)):
            if said is None:
                late.append(name)
            elif said:
                complaints += said
            else:
                clean[name] = prints[name]
    memory.write_text(json.dumps(clean, indent=0, sort_keys=True))
    if late:
        say(f'clang-tidy left {len(late)} of {len(left)} files for want of time; scripts/check --all looks at all')
    return complaints
