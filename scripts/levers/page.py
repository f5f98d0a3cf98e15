"""How the page on levers is made: commands are run, sections are written of what they say."""

import json
import pathlib
import shlex
import shutil
import subprocess

from checks.markdown import fill

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEVICE = '--device virtual:h200'
MIB = 1 << 20
GIB = 1 << 30
# What cuDNN's attention asks for where no answer was recorded; anything more that is not known has no place on the
# page.
SMALL = 64 << 10


class Untrue(Exception):
    """A number is not what a sentence of the page says."""


def need(condition, sentence):
    """Ends the script where what a sentence of the page says is not what was measured."""
    if not condition:
        raise Untrue(f'this is not so any more: {sentence}')


def size(count):
    if count < 100 << 10:
        return f'{count:,} B'
    return f'{count / GIB:.2f} GiB' if count >= 10 * GIB or count % GIB == 0 else f'{count / MIB:,.1f} MiB'


def percent(part, whole):
    """With one digit below ten, so that little is not nothing."""
    value = 100 * part / whole
    return f'{value:.0f} %' if abs(value) >= 9.95 else f'{value:.1f} %'


def saved(before, after):
    """As text: what a lever saves of `before`, or costs."""
    if before == after:
        return '0'
    return percent(before - after, before) if after < before else f'costs {percent(after - before, before)}'


def wrapped(text):
    """Prose in lines that a reader of the file can read; code and tables as they are."""
    if text.startswith(('    ', '|', '#')):
        return text
    if text.startswith('- '):
        return '\n'.join(line for item in text.split('\n') for line in fill(item[2:], '- ', '  '))
    return '\n'.join(fill(text, '', ''))


def table(head, rows):
    lines = [head, ['---'] + ['---:'] * (len(head) - 1), *rows]
    return '\n'.join('| ' + ' | '.join(line) + ' |' for line in lines)


class Runs:
    """Runs commands of the page in a folder that is as the page says; each one once."""

    def __init__(self, torchmem, python, models, folder):
        self.torchmem, self.folder, self.known = torchmem, folder, {}
        for model in models.glob('*.pt'):
            (folder / model.name).symlink_to(model.resolve())
        shutil.copytree(ROOT / 'scenarios', folder / 'scenarios')
        self.names = {'torchmem': str(torchmem), 'python3': str(python)}

    def program(self, name, text):
        (self.folder / name).write_text(text)

    def start(self, command, extra, codes):
        words = [self.names.get(word, word) for word in shlex.split(command)]
        ended = subprocess.run(
            [*words[:2], *extra, *words[2:]], cwd=self.folder, capture_output=True, text=True
        )
        if ended.returncode not in codes:
            raise Untrue(f'{command}\nends with {ended.returncode}:\n{ended.stdout[-1000:]}{ended.stderr[-2000:]}')
        return ended

    def json(self, command, codes):
        if command not in self.known:
            self.known[command] = json.loads(self.start(command, ['--json'], codes).stdout)
        return self.known[command]

    def text(self, command):
        """What a program prints."""
        if command not in self.known:
            self.known[command] = self.start(command, ['--quiet'], [0]).stdout
        return self.known[command]


def fidelities(result):
    """Every statement of what was assumed, wherever in the JSON it is."""
    if isinstance(result, dict):
        for key, value in result.items():
            if key == 'fidelity' and value:
                yield value
            else:
                yield from fidelities(value)
    elif isinstance(result, list):
        for value in result:
            yield from fidelities(value)


class Section:
    """One claim: what was run for it, what that says, and the text."""

    def __init__(self, runs, title):
        self.runs, self.title, self.verdict = runs, title, None
        self.parts, self.commands, self.estimated = [], [], 0

    def run(self, command, codes=(0,)):
        """The command's JSON. It is shown; 0 is the exit code unless `codes` says otherwise."""
        command = f'torchmem {command} {DEVICE}'
        self.commands.append(command)
        result = self.runs.json(command, codes)
        found = list(fidelities(result))
        need(found, f'{command} says what it assumed')
        for fidelity in found:
            need(
                fidelity['verified'] and not fidelity['assumed_values'] and not fidelity['unmodelled_calls'],
                f'nothing was assumed in {command}',
            )
            count = sum(each['bytes'] for each in fidelity['estimated_workspaces'])
            need(count <= SMALL, f'no more than {SMALL} bytes are estimated in {command}')
            self.estimated = max(self.estimated, count)
        return result

    def variants(self, command, *names):
        """The peak of each variant, by name."""
        result = self.run(f'compare {command} ' + ' '.join(f'--variant {name}' for name in names))
        return {variant['name']: variant['peak'] for variant in result['variants']}

    def show_commands(self):
        """Puts what was run since the last time here."""
        self.parts.append('\n'.join(f'    {command}' for command in self.commands))
        self.commands = []

    def add(self, *texts):
        if self.commands:
            self.show_commands()
        self.parts += texts

    def text(self):
        if self.estimated:
            self.parts.append(
                f'cuDNN\'s workspace for attention in bf16 is estimated in these runs, at {self.estimated:,} B for all'
                ' calls of a run together; nothing else is assumed.'
            )
        return '\n\n'.join(map(wrapped, [f'## {self.title}', self.verdict, *self.parts]))


BERT = 'bert.pt --input ids=i64:16x512:below=30522 --input mask=bool:16x512'
