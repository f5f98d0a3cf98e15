"""What del and letting go of results save."""

from levers.page import DEVICE, GIB, MIB, need, percent, saved, size, table

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
    need(
        rows['a has 256 MiB'] == ['256', '256'] and rows['del a'] == ['0', '256'],
        'del lowers allocated and not reserved',
    )
    need(rows['del b, but c is a view of it'][0] == '256' and rows['del c'][0] == '0', 'a view keeps the memory')
    need(
        rows['del y, but backward of z needs it'] == rows['y = x.exp(), z = y.sum()'] and rows['del z'][0] == '256',
        'a graph keeps it too',
    )
    need(rows['del x, empty_cache()'] == ['0', '0'], 'empty_cache gives it all back')
    page.verdict = (
        '**Not so.** When the last reference goes, `memory_allocated` falls at once. `memory_reserved`, which'
        ' `nvidia-smi` shows with the context, does not.'
    )
    page.add(
        f'    {command}',
        '\n'.join(f'    {line}'.rstrip() for line in ['# del.py', *DEL.splitlines()]),
        'It prints allocated and reserved:',
        '\n'.join(f'    {line}' for line in printed.splitlines()),
        'Where `del` seems to do nothing, something else holds the same memory: a view, a list, an exception\'s'
        ' traceback, or the graph of a result that is still there. `del` takes a name away, not a tensor.',
    )
    row = next(
        row
        for row in page.run('scenario scenarios/release_and_empty_cache.json')['rows']
        if row['action'] == 'release a'
    )
    need(
        row['allocated_bytes']['current'] == 0 and row['reserved_bytes']['current'] == GIB,
        'release lowers allocated to 0, not reserved',
    )
    rows = page.run('scenario scenarios/kept_losses.json')['rows']
    kept = [row['allocated_bytes']['current'] for row in rows if row['action'].startswith('keep loss')]
    growth = kept[-1] - kept[-2]
    need(growth == kept[1] - kept[0] > 100 * MIB, 'a kept loss keeps its graph')
    numbers = [row['allocated_bytes']['current'] for row in rows if row['action'].startswith('keep number')]
    detached = numbers[-1] - numbers[-2]
    need(0 < detached < 1024, 'a detached one keeps itself')
    page.show_commands()
    page.add(
        'The second of these keeps the losses of a loop in a list, as numbers for a plot: each turn adds'
        f' {size(growth)}, since each loss holds its graph. Of `loss.detach()` it is {size(detached)}.'
    )


def gan(page):
    rows, shares, differences = [], [], []
    for name, options in {
        'as in the files: many activations, small weights': '',
        'two stacks of four Linear 4096, batch 64': (
            ' --set generator=../four_linears.pt --set discriminator=../four_linears.pt --set noise=64x4096'
        ),
        'the same, batch 65,536': (
            ' --set generator=../four_linears.pt --set discriminator=../four_linears.pt --set noise=65536x4096'
        ),
    }.items():
        keeping, releasing = (
            page.run(f'scenario scenarios/gan_{way}.json{options}') for way in ('keeping', 'releasing')
        )
        before, after = keeping['peak']['allocated_bytes'], releasing['peak']['allocated_bytes']
        rows.append([name, size(before), size(after), saved(before, after)])
        shares.append(1 - after / before)
        differences.append(before - after)
    need(min(shares) < 0.01 and 0.25 < max(shares) < 0.4, 'releasing saves from nothing to a third')
    releasing = page.run('scenario scenarios/gan_releasing.json')['rows']
    page.commands.pop()
    places = [index for index, row in enumerate(releasing) if row['action'] == 'release fake']
    drop = [
        releasing[index - 1]['allocated_bytes']['current'] - releasing[index]['allocated_bytes']['current']
        for index in places
    ]
    need(
        drop[1] == drop[2] > 0.7 * differences[0], 'most of it is the generator\'s graph, which the first result holds'
    )
    page.verdict = (
        f'**True in kind, for large batches: {percent(max(shares), 1)} here. Where the weights are most of it, '
        f'{percent(min(shares), 1)}.**'
    )
    page.add(
        table(['generator and discriminator', 'kept', 'released', 'saved'], rows),
        'Most of it is one name: `fake`, the generator\'s result for the discriminator\'s step. `fake.detach()` goes'
        f' into the discriminator, but `fake` itself still holds the generator\'s graph ({size(drop[1])} of the'
        f' {size(differences[0])} in the first row) all through the discriminator\'s step, and through the generator\'s'
        ' own step too, which makes that graph anew. To make it under no_grad, or to write `fake = fake.detach()`, is'
        ' as good as `del fake`. The rest is the results of the steps; losses hold next to nothing after backward,'
        ' which has freed their graphs.',
    )
