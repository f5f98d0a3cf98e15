#!/usr/bin/env python3
"""Writes docs/levers.md: what people say about CUDA memory, and what is measured.

    scripts/make_levers.py --torchmem BIN --python PYTHON --models DIR [--check] [--quick] [--only WORD]

Every command that the page shows is run, with --json, and every number of the page is read off what it says. A sentence
that a number could make untrue stands behind need(), which ends the script when the number is another. PYTHON has PyTorch;
DIR is what test_models/make_models.py makes. With --check the page is compared with the one in the repository. With --only
the sections whose title has WORD in it are made, and compared or printed; with --quick those that take seconds.
"""

import argparse
import difflib
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / 'docs/levers.md'
DEVICE = '--device virtual:h200'
MIB = 1 << 20
GIB = 1 << 30
# What cuDNN's attention asks for where no answer was recorded; anything more that is not known has no place on the page.
SMALL = 64 << 10


class Untrue(Exception):
    """A number is not what a sentence of the page says."""


def need(condition, sentence):
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
    return '\n'.join(textwrap.fill(line, 150, subsequent_indent='  ' if line.startswith('- ') else '', break_on_hyphens=False, break_long_words=False)
                     for line in text.split('\n'))


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
        ended = subprocess.run([*words[:1], words[1], *extra, *words[2:]], cwd=self.folder, capture_output=True, text=True)
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
    def __init__(self, runs, title):
        self.runs, self.title, self.verdict = runs, title, None
        self.parts, self.commands, self.estimated = [], [], 0

    def run(self, command, codes=(0,)):
        """The command's JSON. It is shown; 0 is the exit code unless `codes` says otherwise."""
        command = f'torchmem {command} {DEVICE}'
        self.commands.append(command)
        result = self.runs.json(command, codes)
        for fidelity in fidelities(result):
            need(fidelity['verified'] and not fidelity['assumed_values'] and not fidelity['unmodelled_calls'],
                 f'nothing was assumed in {command}')
            count = sum(each['bytes'] for each in fidelity['estimated_workspaces'])
            need(count <= SMALL, f'no more than {SMALL} bytes are estimated in {command}')
            self.estimated = max(self.estimated, count)
        return result

    def variants(self, command, *names):
        """The peak of each variant, by name."""
        result = self.run(f'compare {command} ' + ' '.join(f'--variant {name}' for name in names))
        return {variant['name']: variant['peak'] for variant in result['variants']}

    def show_commands(self):
        self.parts.append('\n'.join(f'    {command}' for command in self.commands))
        self.commands = []

    def add(self, *texts):
        if self.commands:
            self.show_commands()
        self.parts += texts

    def text(self):
        if self.estimated:
            self.parts.append(f'cuDNN\'s workspace for attention in bf16 is estimated in these runs, at {self.estimated:,} B for all calls '
                              'of a run together; nothing else is assumed.')
        return '\n\n'.join(map(wrapped, [f'## {self.title}', self.verdict, *self.parts]))


BERT = 'bert.pt --input ids=i64:16x512:below=30522 --input mask=bool:16x512'


def no_grad(page):
    rows, shares = [], []
    for name, command in {
        'MLP, batch 64': 'mlp.pt --input f32:64x784',
        'GPT-2 kind of decoder, 1 x 128': 'gpt2like.pt --input i64:1x128:below=50257',
        'MLP, batch 65,536': 'mlp.pt --input f32:65536x784',
        'small decoder, 16 x 512': 'gpt_small.pt --input i64:16x512:below=8000',
        'ResNet-50, batch 32': 'resnet50.pt --input f32:32x3x224x224',
        'ViT-B/16, batch 32': 'vit_b_16.pt --input f32:32x3x224x224',
    }.items():
        peaks = page.variants(command, 'grad', 'no_grad')
        grad, without = peaks['grad'], peaks['no_grad']
        rows.append([name, size(grad['allocated_bytes']), size(without['allocated_bytes']),
                     saved(grad['allocated_bytes'], without['allocated_bytes']),
                     percent(grad['by_category']['activations'], grad['allocated_bytes'])])
        shares.append(1 - without['allocated_bytes'] / grad['allocated_bytes'])
        need(without['by_category']['activations'] == 0, 'without gradients nothing is kept for backward')
    within = sum(0.3 <= share <= 0.5 for share in shares)
    need(within <= 2 and min(shares) < 0.05 and max(shares) > 0.8, 'what no_grad saves is anything from nothing to most')
    page.verdict = (f'**There is no such number.** It saves what backward would have needed, from {percent(min(shares), 1)} to '
                    f'{percent(max(shares), 1)} of the peak here; of {len(rows)} runs, {within} lie between 30 and 50 %.')
    page.add(table(['model, input', 'with gradients', 'under no_grad', 'saved', 'activations at the peak'], rows),
             'These are forward passes alone. Parameters stay, and so does what the widest operator has in hand, its input and its result. '
             'All that goes is what was kept for backward, which grows with the batch and with the number of layers. A small batch through '
             'large weights saves nothing; a deep network with a large batch saves nearly everything.')


def inference_batch(page):
    model = 'fit bert.pt --input ids=i64:Bx512:below=30522 --input mask=bool:Bx512'
    decoder = 'fit gpt_small.pt --input i64:Bx512:below=8000'
    rows, found, each = [], {}, {}
    for name, command, limit in (('BERT base, 512 tokens', model, '5350MiB'), ('small decoder, 512 tokens', decoder, '920MiB')):
        for mode in ('grad-forward', 'inference'):
            result = page.run(f'{command} --mode {mode} --limit {limit}')['results'][0]
            found[name, mode] = result['largest']
            fits = sorted((trial for trial in result['trials'] if trial['fits']), key=lambda trial: trial['size'])
            first, last = fits[0], fits[-1]
            each[name, mode] = (last['peak']['allocated_bytes'] - first['peak']['allocated_bytes']) / (last['size'] - first['size'])
        rows.append([name, limit.replace('MiB', ' MiB'), *(f'{found[name, mode]}' for mode in ('grad-forward', 'inference')),
                     *(size(each[name, mode]) for mode in ('grad-forward', 'inference'))])
    bert = [found['BERT base, 512 tokens', mode] for mode in ('grad-forward', 'inference')]
    small = [found['small decoder, 512 tokens', mode] for mode in ('grad-forward', 'inference')]
    need(bert[0] == 16 and bert[1] > 10 * bert[0], 'BERT goes from 16 to more than ten times that')
    need(small[1] < 2 * small[0], 'the small decoder does not reach twice the batch')
    page.verdict = f'**Not so: from {bert[0]} to {bert[1]}.** Where a model makes a large result, it can be less than twice.'
    page.add(table(['model', 'limit', 'batch with gradients', 'batch under no_grad', 'a sample takes, with', 'and without'], rows),
             'The limit is chosen so that 16 fit with gradients, evaluation without no_grad. A sample then costs what all twelve layers keep; '
             'without gradients it costs what the widest layer has in hand, once. The batch grows by the quotient of the two, and by a little '
             'more or less for the parameters, which are there either way. The small decoder has four layers, and its largest tensor is the result '
             '(512 x 8,000 numbers a sample), which no_grad does not make smaller.',
             'Twice the batch is what one finds by trying twice the batch.')


DEL = '''\
import torch

def show(what):
    print(f"{what:35} {torch.cuda.memory_allocated() >> 20:5} MiB {torch.cuda.memory_reserved() >> 20:5} MiB")

a = torch.empty(1 << 26, device="cuda")
show("a has 256 MiB")
del a
show("del a")
b = torch.empty(1 << 26, device="cuda")
c = b[:4]
del b
show("del b, but c is a view of it")
del c
show("del c")
x = torch.randn(1 << 26, device="cuda", requires_grad=True)
y = x.exp()
z = y.sum()
show("y = x.exp(), z = y.sum()")
del y
show("del y, but backward of z needs it")
del z
show("del z")
del x
torch.cuda.empty_cache()
show("del x, empty_cache()")
'''


def deleting(page):
    page.runs.program('del.py', DEL)
    command = f'torchmem run {DEVICE} -- python3 del.py'
    printed = page.runs.text(command).rstrip()
    rows = {line[:35].strip(): line[35:].replace('MiB', '').split() for line in printed.splitlines()}
    need(rows['a has 256 MiB'] == ['256', '256'] and rows['del a'] == ['0', '256'], 'del lowers allocated and not reserved')
    need(rows['del b, but c is a view of it'][0] == '256' and rows['del c'][0] == '0', 'a view keeps the memory')
    need(rows['del y, but backward of z needs it'] == rows['y = x.exp(), z = y.sum()'] and rows['del z'][0] == '256', 'a graph keeps it too')
    need(rows['del x, empty_cache()'] == ['0', '0'], 'empty_cache gives it all back')
    page.verdict = ('**Not so.** When the last reference goes, `memory_allocated` falls at once. `memory_reserved`, which `nvidia-smi` shows '
                    'with the context, does not.')
    page.add(f'    {command}', '\n'.join(f'    {line}'.rstrip() for line in ['# del.py', *DEL.splitlines()]),
             'It prints allocated and reserved:', '\n'.join(f'    {line}' for line in printed.splitlines()),
             'Where `del` seems to do nothing, something else holds the same memory: a view, a list, an exception\'s traceback, or the graph of a '
             'result that is still there. `del` takes a name away, not a tensor.')
    row = next(row for row in page.run('scenario scenarios/release_and_empty_cache.json')['rows'] if row['action'] == 'release a')
    need(row['allocated_bytes']['current'] == 0 and row['reserved_bytes']['current'] == GIB, 'release lowers allocated to 0, not reserved')
    rows = page.run('scenario scenarios/kept_losses.json')['rows']
    kept = [row['allocated_bytes']['current'] for row in rows if row['action'].startswith('keep loss')]
    growth = kept[-1] - kept[-2]
    need(growth == kept[1] - kept[0] > 100 * MIB, 'a kept loss keeps its graph')
    page.show_commands()
    page.add(f'The second of these keeps the losses of a loop in a list, as numbers for a plot: each turn adds {size(growth)}, since each loss holds '
             'its graph. Of `loss.detach()` it is 512 B.')


def in_place(page):
    rows, ratio = [], {}
    for name, command in {
        'eight of Linear and ReLU, training': 'relu_chain.pt --input f32:262144x256',
        'eight of Linear and LeakyReLU, training': 'leaky_relu_chain.pt --input f32:262144x256',
        'eight of Linear and GELU, training': 'gelu_chain.pt --input f32:262144x256',
        'BERT base, 16 x 512, training': BERT,
        'BERT base, 16 x 512, inference': BERT + ' --mode inference',
    }.items():
        before, after = (page.run(f'profile {command}{option}') for option in ('', ' --inplace'))
        need(after['levers']['inplace']['rewritten'] >= 8, 'the activations were made in-place')
        before, after = before['peak'], after['peak']
        ratio[name] = after['allocated_bytes'] / before['allocated_bytes']
        kept = [size(peak['by_category']['activations']) if 'training' in name else '-' for peak in (before, after)]
        rows.append([name, size(before['allocated_bytes']), size(after['allocated_bytes']),
                     saved(before['allocated_bytes'], after['allocated_bytes']), *kept])
        if 'LeakyReLU' in name:
            need(2 * after['by_category']['activations'] == before['by_category']['activations'], 'LeakyReLU in-place halves what is kept')
    relu, leaky, gelu, training, inference = ratio.values()
    need(relu == gelu == 1, 'ReLU and GELU in-place save nothing in training')
    need(leaky < 0.7 and 0.8 < inference < 0.95 and 1 < training < 1.05, 'LeakyReLU saves in training, GELU in inference only')
    page.verdict = ('**True of what is kept for backward, with LeakyReLU behind a layer that does not need its own result. With ReLU it '
                    'saves nothing in training, with GELU it can cost.**')
    page.add(table(['model', 'as it is', 'in-place', 'saved', 'activations', 'in-place'], rows),
             'What matters is what backward keeps. Of ReLU, sigmoid and tanh it is the result. The input was free as soon as they returned, in-place '
             'or not, so that nothing is saved at a peak in backward. Of LeakyReLU and ELU it is the input, beside the result that the next layer keeps: '
             'two tensors a layer. In-place they keep the result, and both are one. GELU and SiLU need their input whatever happens, so that '
             'autograd copies it before it is written over.',
             'In inference nothing is kept, and the saving is the result of one activation, where that is when the peak is.')


def gan(page):
    rows, shares, differences = [], [], []
    for name, options in {
        'as in the files: many activations, small weights': '',
        'two stacks of four Linear 4096, batch 64': ' --set generator=../four_linears.pt --set discriminator=../four_linears.pt --set noise=64x4096',
        'the same, batch 65,536': ' --set generator=../four_linears.pt --set discriminator=../four_linears.pt --set noise=65536x4096',
    }.items():
        keeping, releasing = (page.run(f'scenario scenarios/gan_{way}.json{options}') for way in ('keeping', 'releasing'))
        before, after = keeping['peak']['allocated_bytes'], releasing['peak']['allocated_bytes']
        rows.append([name, size(before), size(after), saved(before, after)])
        shares.append(1 - after / before)
        differences.append(before - after)
    need(min(shares) < 0.01 and 0.25 < max(shares) < 0.4, 'releasing saves from nothing to a third')
    releasing = page.run('scenario scenarios/gan_releasing.json')['rows']
    page.commands.pop()
    places = [index for index, row in enumerate(releasing) if row['action'] == 'release fake']
    drop = [releasing[index - 1]['allocated_bytes']['current'] - releasing[index]['allocated_bytes']['current'] for index in places]
    need(drop[1] == drop[2] > 0.7 * differences[0], 'most of it is the generator\'s graph, which the first result holds')
    page.verdict = (f'**True in kind, for large batches: {percent(max(shares), 1)} here. Where the weights are most of it, '
                    f'{percent(min(shares), 1)}.**')
    page.add(table(['generator and discriminator', 'kept', 'released', 'saved'], rows),
             'Most of it is one name: `fake`, the generator\'s result for the discriminator\'s step. `fake.detach()` goes into the discriminator, '
             f'but `fake` itself still holds the generator\'s graph ({size(drop[1])} of the {size(differences[0])} in the first row) all through the '
             'discriminator\'s step, and through the generator\'s own step too, which makes that graph anew. To make it under no_grad, or to write '
             '`fake = fake.detach()`, is as good as `del fake`. The rest is the results of the steps; losses hold next to nothing after backward, which has freed '
             'their graphs.')


def mixed_precision(page):
    rows, ratio = [], {}
    for name, command, mode in (
        ('ResNet-50, batch 32, training', 'resnet50.pt --input f32:32x3x224x224', 'train'),
        ('BERT base, 16 x 512, training', BERT, 'train'),
        ('BERT base, 16 x 512, inference', BERT, 'no_grad'),
        ('MLP, batch 64, training', 'mlp.pt --input f32:64x784', 'train'),
        ('MLP, batch 64, inference', 'mlp.pt --input f32:64x784', 'no_grad'),
    ):
        peaks = page.variants(command, mode, f'{mode}+autocast=bf16', f'{mode}+dtype=bf16')
        full, cast, converted = (peak['allocated_bytes'] for peak in peaks.values())
        rows.append([name, size(full), size(cast), saved(full, cast), size(converted), saved(full, converted)])
        ratio[name] = (cast / full, converted / full)
    resnet, bert, bert_alone, mlp, mlp_alone = ratio.values()
    need(0.5 < resnet[0] < 0.65 and 0.65 < bert[0] < 0.8, 'autocast saves a quarter to not quite half of training')
    need(bert_alone[0] > 1 and mlp_alone[0] > 1.2 and 0.99 < mlp[0] < 1.01, 'autocast costs in inference, and does nothing where weights are the peak')
    need(all(0.5 < converted < 0.6 for _, converted in (resnet, bert, mlp)), 'bf16 weights nearly halve training')
    need(mlp_alone[1] > 0.85, 'converting on the device needs both copies')
    page.verdict = (f'**Of bf16 weights nearly true in training. Of autocast not: it saves {saved(1, resnet[0])} here, or {saved(1, bert[0])}, or '
                    f'nothing, and {saved(1, mlp_alone[0])} in inference.**')
    page.add(table(['run', 'f32', 'autocast', 'saved', 'bf16 weights', 'saved'], rows),
             'Autocast halves what products and convolutions make. Weights, gradients and optimizer state stay in f32, and each weight gets a copy in bf16, '
             'which lives until autocast ends. What runs in f32 under autocast (layer normalisation, softmax, losses) keeps f32 for backward, which is why BERT '
             'saves less than ResNet-50. Without gradients there are few activations to halve, and the copies of the weights remain.',
             '`model.to(torch.bfloat16)` halves everything; what keeps it from half is workspaces, and in inference the moment of conversion, when both copies are on '
             'the device. The optimizer then works in bf16 as well, which is another training.')


def checkpointing(page):
    rows, kept, whole = [], {}, {}
    for layers in (16, 64, 256):
        command = f'profile deep_{layers}.pt --input f32:65536x64'
        before, after = (page.run(command + option)['peak'] for option in ('', ' --checkpoint auto'))
        kept[layers] = [peak['by_category']['activations'] / (16 * MIB) for peak in (before, after)]
        whole[layers] = after['allocated_bytes'] / before['allocated_bytes']
        rows.append([f'{layers} equal layers', *(size(peak['by_category']['activations']) for peak in (before, after)),
                     f'{kept[layers][0]:.0f}', f'{kept[layers][1]:.0f}', saved(before['allocated_bytes'], after['allocated_bytes'])])
    need(all(kept[layers][0] == 2 * layers - 2 for layers in kept), 'all layers keep two tensors each')
    need(all(abs(kept[layers][1] - 3 * layers**0.5) <= 3 for layers in kept), 'checkpointed they keep about three times the square root')
    others, share = [], []
    for name, command, modules in (
        ('ResNet-50, batch 32', 'resnet50.pt --input f32:32x3x224x224', ' --checkpoint auto'),
        ('small decoder, 16 x 512', 'gpt_small.pt --input i64:16x512:below=8000', ' --checkpoint auto'),
        ('MLP, batch 64', 'mlp.pt --input f32:64x784', ' --checkpoint 0 --checkpoint 2'),
    ):
        before, after = (page.run(f'profile {command}{option}')['peak'] for option in ('', modules))
        others.append([name, *(size(peak['by_category']['activations']) for peak in (before, after)), '', '',
                       saved(before['allocated_bytes'], after['allocated_bytes'])])
        share.append(1 - after['allocated_bytes'] / before['allocated_bytes'])
    need(0.3 < share[0] < 0.6 and 0.3 < share[1] < 0.7 and share[2] < 0.05, 'real models save a part, weights nothing')
    page.verdict = ('**True of equal layers in a chain, of activations alone, and with a factor.** Real models save '
                    f'{saved(1, 1 - share[0])} and {saved(1, 1 - share[1])} of their peak here; one whose peak is weights saves nothing.')
    page.add(table(['model, training', 'activations', 'checkpointed', 'in tensors of a layer', 'checkpointed', 'saved of the peak'], rows + others),
             'The chains have as many groups as a group has layers, and each group is checkpointed. In forward a group keeps its input, so N layers keep sqrt(N) '
             'tensors. In backward one group is run again and keeps all of its own, another 2 sqrt(N), as a layer of Linear and GELU keeps two. Together: 3 sqrt(N) in '
             'place of 2 N, which is little at 16 layers and much at 256.',
             'In ResNet-50 the layers are not equal: the first blocks are the largest, and running one of them again takes what it takes. In a decoder the result '
             'and its gradient stay as large as they were. Parameters, gradients and optimizer state are never less. The price is a second forward pass.')


def adam(page):
    optimizers = ('sgd', 'adam', 'adam:foreach', 'adam:fused', 'adam+dtype=bf16')
    rows, above = [], {}
    for name, command in (('four Linear 4096, batch 64', 'four_linears.pt --input f32:64x4096'), ('ResNet-50, batch 32', 'resnet50.pt --input f32:32x3x224x224')):
        peaks = page.variants(command, *(f'train+optimizer={optimizer}' for optimizer in optimizers))
        least = peaks['train+optimizer=sgd']
        for variant, peak in peaks.items():
            optimizer = variant.removeprefix('train+optimizer=')
            parameters = peak['by_category']['parameters']
            state = peak['by_category']['optimizer_state'] / parameters
            above[name, optimizer] = (peak['allocated_bytes'] - least['allocated_bytes']) / parameters
            if optimizer != 'sgd':
                need(1.9 < state < 2.1, f'the state of {optimizer} is twice the parameters')
            rows.append([name, optimizer, size(parameters), f'{state:.2f}', size(peak['allocated_bytes']),
                         '-' if 'bf16' in optimizer else f'{above[name, optimizer]:.2f}', peak['phase']])
    estimate = page.runs.json('torchmem estimate --params 7B --optimizer adam', [0])['estimates'][0]['stages'][0]
    page.commands.append('torchmem estimate --params 7B --optimizer adam')
    need(estimate['optimizer_state_bytes'] == 2 * estimate['weights_bytes'] == 2 * estimate['gradients_bytes'], 'the estimate says the same')
    linears, resnet = 'four Linear 4096, batch 64', 'ResNet-50, batch 32'
    need(abs(above[linears, 'adam:fused'] - 2) < 0.02 and abs(above[linears, 'adam'] - 2.5) < 0.02 and abs(above[linears, 'adam:foreach'] - 3) < 0.02,
         'the step itself needs up to one more')
    need(all(abs(above[resnet, form] - 2.05) < 0.05 for form in ('adam', 'adam:foreach', 'adam:fused')), 'with large activations the form does not matter')
    page.verdict = ('**True of the state. The peak can rise by three times the parameters**: where it is in the optimizer\'s step, the step\'s own temporaries come '
                    'on top.')
    page.add(table(['model', 'optimizer', 'parameters', 'state / parameters', 'peak', 'above SGD, in parameters', 'peak is in'], rows),
             'State is two tensors for each parameter, of its type: with bf16 weights, half as much of both. What differs from 2.00 is the allocator\'s rounding, here and '
             'there, of many tensors. State appears in the first step and stays, so that one iteration alone does not show it beside the activations.',
             'The form decides about the step: `fused` needs nothing more, a loop has temporaries for one tensor at a time, `foreach` (Python\'s default) for all of them. Where '
             'activations make the peak, in backward, the temporaries do not show.',
             f'Weights, gradients and state are four times the parameters: {estimate["total_bytes"] / 1e9:,.0f} GB for 7 billion in f32.')


def fragmentation(page):
    plain = page.run('scenario scenarios/free_but_fragmented.json')
    oom = next(row['out_of_memory'] for row in plain['rows'] if 'out_of_memory' in row)
    need(not plain['unmet'] and (oom['requested_bytes'], oom['reserved_bytes'] - oom['allocated_bytes'], oom['largest_free_block_bytes']) == (3 * GIB, 4 * GIB, GIB),
         '3 GiB fail with 4 GiB free in pieces of 1 GiB')
    cures = {}
    for setting in ('expandable_segments:True', 'max_split_size_mb:1024'):
        result = page.run(f'scenario scenarios/free_but_fragmented.json --alloc-conf {setting}', codes=(1,))
        cures[setting] = not any('out_of_memory' in row for row in result['rows'])
    need(all(cures.values()), 'both settings make room')
    whole = page.run('scenario scenarios/free_in_whole_segments.json')
    need(not whole['unmet'], 'whole segments are given back')
    page.verdict = '**True, where the free memory is in pieces of segments that are in use, and the device has no more. Free segments are no obstacle.**'
    page.add(table(['scenario', 'free in', 'settings', '3 GiB more'],
                   [['free_but_fragmented', 'four pieces of 1 GiB, each beside 2 GiB in use', 'default', 'fail'],
                    *(['free_but_fragmented', 'the same requests', f'`{setting}`', 'succeed'] for setting in cures),
                    ['free_in_whole_segments', 'four segments of 1 GiB', 'default', 'succeed']]),
             f'In the first scenario {size(oom["reserved_bytes"])} are reserved and {size(oom["allocated_bytes"])} allocated under a limit of {size(oom["limit_bytes"])}; '
             f'the largest free block has {size(oom["largest_free_block_bytes"])}. A tensor lies in one block, and a block in one segment. Without a limit, the '
             'allocator would have asked the device for another 3 GiB, so it takes a full device as well.',
             'Segments that are free as a whole never matter: before it fails, the allocator gives all of them back and tries again. So "4 GiB free" in the message says '
             'little; the largest free block is what counts.',
             'With expandable segments there is one segment that grows, in which neighbours join: 3 + 3 + 3 + 3 become 12, and four times 2 leave 4 in one piece. '
             '`max_split_size_mb:1024` keeps the 3 GiB blocks from being cut for 2 GiB. (Both end with exit code 1, as the scenario\'s expectation to fail is not met.) '
             'Neither changes what is allocated.')
    rows, end = [], {}
    for setting in ('', ' --alloc-conf expandable_segments:True', ' --alloc-conf max_split_size_mb:20'):
        result = page.run(f'scenario scenarios/weights_in_freed_blocks.json --limit 16GiB{setting}', codes=(0, 1))
        end[setting] = result['rows'][-1]
        last = end[setting]['allocated_bytes']['current']
        rows.append([f'`{setting.split()[-1]}`' if setting else 'default', 'out of memory' if result['error'] else 'fits', size(result['peak']['reserved_bytes'])])
        need(bool(result['error']) == (setting == ''), 'the layers fit with either setting, not without')
    joined = end[' --alloc-conf expandable_segments:True']
    need(joined['reserved_bytes']['current'] < joined['peak_reserved_bytes'] - 2 * GIB, 'at the limit, free pages of the segment were given back')
    page.show_commands()
    page.add(f'Sixteen layers whose weights settle in freed blocks need {size(last)} at the end and do not fit 16 GiB by default:',
             table(['settings', 'sixteen layers', 'peak reserved'], rows),
             'Here each free piece has blocks in use on both sides, and nothing joins. An expandable segment still gets on: at the limit it gives the pages of its '
             f'free pieces back, and maps them at its end ({size(joined["reserved_bytes"]["current"])} are reserved after the last layer).')


def empty_cache(page):
    rows, change = [], {}
    for name, command in {
        'ResNet-50, batch 32': 'resnet50.pt --input f32:32x3x224x224',
        'MLP, batch 65,536': 'mlp.pt --input f32:65536x784',
        'small decoder, 16 x 512': 'gpt_small.pt --input i64:16x512:below=8000',
    }.items():
        before, after = (page.run(f'profile {command}{option}')['peak'] for option in ('', ' --empty-cache'))
        change[name] = [after[kind] / before[kind] for kind in ('allocated_bytes', 'reserved_bytes')]
        rows.append([name, *(size(peak['allocated_bytes']) for peak in (before, after)), *(size(peak['reserved_bytes']) for peak in (before, after)),
                     saved(before['reserved_bytes'], after['reserved_bytes'])])
    need(all(abs(ratio[0] - 1) < 0.001 for ratio in change.values()), 'peak allocated stays')
    reserved = [ratio[1] for ratio in change.values()]
    need(reserved[0] > 1 and reserved[2] < 0.9, 'peak reserved goes either way')
    page.verdict = ('**It helps others, not yourself.** What is allocated stays. What is reserved falls between steps, and comes back; the peak of it can be lower or '
                    'higher.')
    page.add(table(['training, empty_cache after each step', 'peak allocated', 'with', 'peak reserved', 'with', 'saved of reserved'], rows),
             'Cached memory is PyTorch\'s own: the next step takes it again, without asking the device. To give it back between steps makes the allocator cut its segments anew '
             'around what is left (weights, optimizer state), which can come out better or worse, and waits for the device each time.')
    rows = page.run('scenario scenarios/release_and_empty_cache.json')['rows']
    at = {row['action']: row['reserved_bytes']['current'] for row in rows if 'reserved_bytes' in row}
    need(at['release a'] == GIB and at['empty_cache'] == 0, 'empty_cache gives cached memory to the device')
    retry = page.run('scenario scenarios/free_in_whole_segments.json')['rows'][-2]
    need(retry['action'].startswith('alloc more') and retry['alloc_retries'] == 1, 'the allocator empties its cache before it fails')
    stuck = page.run('scenario scenarios/free_but_fragmented.json')['rows'][-2]
    need(stuck['action'] == 'empty_cache' and stuck['reserved_bytes']['current'] == 12 * GIB and stuck['allocated_bytes']['current'] == 8 * GIB, 'empty_cache does not touch segments in use')
    changing = page.run('scenario scenarios/lengths_changing.json')['peak']['reserved_bytes']
    padded = page.run('scenario scenarios/lengths_padded.json')['peak']['reserved_bytes']
    need(changing > 2 * padded, 'changing lengths reserve more than twice of padded ones')
    page.show_commands()
    page.add('- It helps when another process wants the device\'s memory: 1 GiB that was released goes from reserved to 0 (the first scenario).\n'
             '- It does not help at an out-of-memory: the allocator does the same before it fails (the second).\n'
             f'- It does not help against fragmentation: a segment with a byte in use stays. In the third, {size(stuck["reserved_bytes"]["current"])} stay reserved for '
             f'{size(stuck["allocated_bytes"]["current"])}.\n'
             f'- Where reserved memory grows because lengths change ({size(changing)} in the fourth), it would lower it between turns; padding ({size(padded)} in the last) '
             'or a first batch of the greatest length keeps it from growing.')


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

Made by `scripts/make_levers.py`, which runs the commands below and reads every number off their JSON. A test makes this page anew and compares.

All of it is PyTorch {torch} on an H200, by its virtual device, to the byte: [accuracy.md](accuracy.md) says how that is known. Peaks are of *allocated* memory unless the
text says *reserved*; what a run takes without PyTorch's allocator (the context) is in neither. To run the commands yourself, make the models with
`test_models/make_models.py DIR`, copy `scenarios/` into DIR, and go there; without `--device` they measure the GPU that you have.
To find what helps a model of your own, let `torchmem advise` run all of it: [advise.md](advise.md).'''


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
    software = [result['software']['torch'] for result in runs.known.values() if isinstance(result, dict) and 'software' in result]
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
    titles = [title for title, write in SECTIONS.items() if options.only in title and not (options.quick and write in SLOW)]
    some = len(titles) < len(SECTIONS)
    if not (options.models / 'bert.pt').exists():
        print(f'the test models are not made: there is no {options.models}/bert.pt')
        return 77
    if not titles:
        parser.error(f'no section has {options.only!r} in its title')
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(options.torchmem.resolve(), options.python, options.models, pathlib.Path(folder))
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
    difference = list(difflib.unified_diff(there.splitlines(), text.splitlines(), 'docs/levers.md', 'measured now', lineterm=''))
    print('\n'.join(difference) if difference else f'{len(made)} sections are as measured')
    return 1 if difference else 0


if __name__ == '__main__':
    sys.exit(main())
