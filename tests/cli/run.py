#!/usr/bin/env python3
"""Runs command-line tests (README.md says how they are written) and prints one line for each."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKIPPED = 77  # CTest's SKIP_RETURN_CODE

sys.path.insert(0, str(HERE))
import schema  # noqa: E402
import sums  # noqa: E402


class Failed(Exception):
    pass


def parse(path):
    """The sections of a test file: (name, argument, text)."""
    sections = []
    for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(keepends=True), 1):
        if line.startswith('--- '):
            name, _, argument = line[4:].strip().partition(' ')
            sections.append([name, argument.strip(), ''])
        elif sections:
            sections[-1][2] += line
        elif line.strip():
            raise Failed(f'line {number}: text before the first section')
    return sections


def expected_pattern(text):
    """A regular expression for the whole of an output."""
    pattern = ''
    for line in text.splitlines():
        if line == '...':
            pattern += r'(?:[^\n]*\n)*'
        else:
            pattern += '[^\n]*'.join(re.escape(part) for part in line.split('<*>')) + '\n'
    return pattern


def check_text(name, actual, expected):
    if not re.fullmatch(expected_pattern(expected), actual):
        raise Failed(f'{name} is not as expected\n--- expected {name}\n{expected}--- actual {name}\n{actual}')


class Environment:
    def __init__(self, torchmem):
        self.torchmem = torchmem
        self.root = torchmem.parent.parent
        self.models = pathlib.Path(os.environ.get('TORCHMEM_TEST_MODELS') or self.root / 'test_models')

    def has(self, what):
        if what == 'virtual':
            return (self.root / 'lib/torchmem/vgpu/preload.list').exists()
        if what == 'engine':
            engines = [self.root / 'bin/torchmem-engine', self.root / 'libexec/torchmem-engine']
            return self.has('virtual') and any(engine.exists() for engine in engines)
        if what == 'models':
            return (self.models / 'done').exists()
        if what == 'no-gpu':
            return not os.path.exists('/dev/nvidia0')
        if what == 'namespaces':
            unshare = ['unshare', '--map-root-user', '--mount', '--pid', '--fork', '--mount-proc', 'true']
            return shutil.which('unshare') is not None and subprocess.run(unshare, capture_output=True).returncode == 0
        raise Failed(f'unknown need {what!r}')

    def variables(self, folder):
        result = {name: value for name, value in os.environ.items() if not name.startswith(('TORCHMEM_', 'PYTORCH_'))}
        result['PATH'] = f"{folder / '.bin'}:{result.get('PATH', '/usr/bin:/bin')}"
        result['LC_ALL'] = 'C.UTF-8'
        result.pop('COLUMNS', None)  # that of the terminal that tests are started from
        result['MODELS'] = str(self.models)
        result['SOURCE'] = str(ROOT)
        return result


def shared_stream(name):
    """The records of streams/NAME.stream; none without a name."""
    path = HERE / 'streams' / f'{name}.stream'
    if name and not path.exists():
        raise Failed(f'there is no stream {name} in {path.parent}')
    return path.read_text(encoding='utf-8') if name else ''


def prepare(sections, folder, environment, variables):
    (folder / '.bin').mkdir()
    # Links, since PATH cannot hold a folder with a colon in its name.
    for program in (environment.torchmem, environment.root / 'tests/rebuild_compare'):
        (folder / '.bin' / program.name).symlink_to(program)
    for name, argument, text in sections:
        if name == 'file':
            path = folder / argument
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding='utf-8')
        elif name == 'copy':
            source, target = argument.split()
            found = [base / source for base in (ROOT / 'tests/data', ROOT / 'test_models') if (base / source).exists()]
            if not found:
                raise Failed(f'there is no {source} in tests/data or test_models')
            shutil.copyfile(found[0], folder / target)
        elif name == 'python':
            done = subprocess.run([sys.executable, '-c', text], cwd=folder, capture_output=True, text=True)
            if done.returncode:
                raise Failed(f'the python section failed:\n{done.stderr}')
        elif name == 'fake-engine':
            (folder / '.engine-records').write_text(shared_stream(argument) + text, encoding='utf-8')
            variables['TORCHMEM_ENGINE'] = str(HERE / 'fake_engine.py')
            variables['FAKE_ENGINE_RECORDS'] = str(folder / '.engine-records')


def documents(folder, done):
    """Every JSON document of ours that the commands printed or wrote: its name and itself."""
    texts = [('stdout', done.stdout)]
    for path in sorted(folder.glob('**/*')):
        if path.is_file() and not path.is_symlink() and path.suffix == '.json':
            texts.append((path.name, path.read_text(encoding='utf-8', errors='replace')))
    for name, text in texts:
        if '"torchmem' not in text:
            continue
        try:
            document = json.loads(text)
        except json.JSONDecodeError:
            continue  # text around it, or an input that is meant to be wrong
        if isinstance(document, dict) and str(document.get('schema', '')).startswith('torchmem.'):
            yield name, document


def check_documents(sections, folder, done):
    """What a test need not ask for: schemas and sums hold in every document that it did not make itself."""
    made = {argument for name, argument, _ in sections if name in ('file', 'made')}
    for name, document in documents(folder, done):
        if name in made:
            continue
        path = ROOT / 'docs/schema' / (document['schema'].removeprefix('torchmem.').partition('/')[0] + '.json')
        wrong = (schema.problems(document, path) if path.exists() else []) + sums.problems(document)
        if wrong:
            raise Failed(f'the JSON in {name} is not as it must be:\n  ' + '\n  '.join(wrong[:20]))


def judge(sections, folder, done):
    values = {name: (argument, text) for name, argument, text in sections}
    expected_exit = int(values['exit'][0]) if 'exit' in values else 0
    if done.returncode != expected_exit:
        raise Failed(f'exit code {done.returncode}, expected {expected_exit}\n'
                     f'--- stdout\n{done.stdout}--- stderr\n{done.stderr}')
    check_documents(sections, folder, done)
    document = None
    if 'schema' in values:
        document = json.loads(done.stdout)
        problems = schema.problems(document, ROOT / 'docs/schema' / (values['schema'][0] + '.json'))
        if problems:
            raise Failed('the JSON is not what its schema says:\n  ' + '\n  '.join(problems))
    else:
        check_text('stdout', done.stdout, values.get('stdout', ('', ''))[1])
    check_text('stderr', done.stderr, values.get('stderr', ('', ''))[1])
    for name, argument, text in sections:
        if name == 'absent' and (folder / argument).exists():
            raise Failed(f'{argument} is there, and must not be')
        if name == 'check':
            here = os.getcwd()
            os.chdir(folder)
            try:
                exec(compile(text, 'check', 'exec'), {'out': done.stdout, 'err': done.stderr, 'document': document})
            except Exception as error:  # noqa: BLE001
                raise Failed(f'the check failed: {type(error).__name__}: {error}\n--- stdout\n{done.stdout}') from error
            finally:
                os.chdir(here)


def run_test(path, environment):
    """None when it passed, else why not; raises Skipped by returning a text that starts with 'skipped'."""
    sections = parse(path)
    known = {'about', 'needs', 'file', 'copy', 'python', 'fake-engine', 'command', 'exit', 'stdout', 'stderr', 'schema',
             'check', 'absent', 'made'}
    for name, argument, _ in sections:
        if name not in known:
            raise Failed(f'unknown section {name!r}')
        if name == 'needs':
            for what in argument.split():
                if not environment.has(what):
                    return f'skipped: {what} is missing'
    with tempfile.TemporaryDirectory(prefix='torchmem-test-') as scratch:
        folder = pathlib.Path(scratch)
        variables = environment.variables(folder)
        prepare(sections, folder, environment, variables)
        commands = ''.join(text for name, _, text in sections if name == 'command')
        done = subprocess.run(['/bin/sh', '-c', commands], cwd=folder, env=variables, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors='replace', timeout=300)
        done.stdout = done.stdout.replace(str(folder), 'FOLDER')
        done.stderr = done.stderr.replace(str(folder), 'FOLDER')
        judge(sections, folder, done)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--torchmem', required=True, type=pathlib.Path, help='the program under test')
    parser.add_argument('tests', nargs='*', type=pathlib.Path, help='test files; all of this folder if none')
    arguments = parser.parse_args()
    environment = Environment(arguments.torchmem.resolve())
    tests = arguments.tests or sorted(HERE.glob('**/*.test'))
    failed = skipped = 0
    for path in tests:
        name = f'{path.resolve().parent.name}/{path.stem}'
        try:
            why_not = run_test(path, environment)
        except (Failed, subprocess.TimeoutExpired, json.JSONDecodeError) as error:
            print(f'FAILED  {name}\n{error}')
            failed += 1
            continue
        skipped += why_not is not None
        print(f'{"skipped" if why_not else "ok     "} {name}' + (f' ({why_not})' if why_not else ''))
    print(f'{len(tests) - failed - skipped} passed, {failed} failed, {skipped} skipped')
    if failed:
        return 1
    return SKIPPED if skipped == len(tests) else 0


if __name__ == '__main__':
    sys.exit(main())
