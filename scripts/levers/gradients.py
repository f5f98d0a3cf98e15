"""What no_grad saves."""

from levers.page import need, percent, saved, size, table


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
        rows.append(
            [
                name,
                size(grad['allocated_bytes']),
                size(without['allocated_bytes']),
                saved(grad['allocated_bytes'], without['allocated_bytes']),
                percent(grad['by_category']['activations'], grad['allocated_bytes']),
            ]
        )
        shares.append(1 - without['allocated_bytes'] / grad['allocated_bytes'])
        need(without['by_category']['activations'] == 0, 'without gradients nothing is kept for backward')
    within = sum(0.3 <= share <= 0.5 for share in shares)
    need(
        within <= 2 and min(shares) < 0.05 and max(shares) > 0.8, 'what no_grad saves is anything from nothing to most'
    )
    page.verdict = (
        f'**There is no such number.** It saves what backward would have needed, from {percent(min(shares), 1)} to '
        f'{percent(max(shares), 1)} of the peak here. Runs between 30 and 50 %: {within} of {len(rows)}.'
    )
    page.add(
        table(['model, input', 'with gradients', 'under no_grad', 'saved', 'activations at the peak'], rows),
        'These are forward passes alone. Parameters stay, and so does what the widest operator has in hand, its input'
        ' and its result. All that goes is what was kept for backward, which grows with the batch and with the number'
        ' of layers. A small batch through large weights saves nothing; a deep network with a large batch saves nearly'
        ' everything.',
    )


def inference_batch(page):
    model = 'fit bert.pt --input ids=i64:Bx512:below=30522 --input mask=bool:Bx512'
    decoder = 'fit gpt_small.pt --input i64:Bx512:below=8000'
    rows, found, each = [], {}, {}
    for name, command, limit in (
        ('BERT base, 512 tokens', model, '5350MiB'),
        ('small decoder, 512 tokens', decoder, '920MiB'),
    ):
        for mode in ('grad-forward', 'inference'):
            result = page.run(f'{command} --mode {mode} --limit {limit}')['results'][0]
            found[name, mode] = result['largest']
            fits = sorted((trial for trial in result['trials'] if trial['fits']), key=lambda trial: trial['size'])
            first, last = fits[0], fits[-1]
            each[name, mode] = (last['peak']['allocated_bytes'] - first['peak']['allocated_bytes']) / (
                last['size'] - first['size']
            )
        rows.append(
            [
                name,
                limit.replace('MiB', ' MiB'),
                *(f'{found[name, mode]}' for mode in ('grad-forward', 'inference')),
                *(size(each[name, mode]) for mode in ('grad-forward', 'inference')),
            ]
        )
    bert = [found['BERT base, 512 tokens', mode] for mode in ('grad-forward', 'inference')]
    small = [found['small decoder, 512 tokens', mode] for mode in ('grad-forward', 'inference')]
    need(bert[0] == 16 and bert[1] > 10 * bert[0], 'BERT goes from 16 to more than ten times that')
    need(small[1] < 2 * small[0], 'the small decoder does not reach twice the batch')
    page.verdict = (
        f'**Not so: from {bert[0]} to {bert[1]}.** Where a model makes a large result, it can be less than twice.'
    )
    page.add(
        table(
            ['model', 'limit', 'batch with gradients', 'batch under no_grad', 'a sample takes, with', 'and without'],
            rows,
        ),
        'The limit is chosen so that 16 fit with gradients, evaluation without no_grad. A sample then costs what all'
        ' twelve layers keep; without gradients it costs what the widest layer has in hand, once. The batch grows by'
        ' the quotient of the two, and by a little more or less for the parameters, which are there either way. The'
        ' small decoder has four layers, and its largest tensor is the result (512 x 8,000 numbers a sample), which'
        ' no_grad does not make smaller.',
        'Twice the batch is what one finds by trying twice the batch.',
    )
