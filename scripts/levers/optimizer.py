"""What optimizers take."""

from levers.page import need, size, table


def adam(page):
    optimizers = ('sgd', 'adam', 'adam:foreach', 'adam:fused', 'adam+dtype=bf16')
    rows, above = [], {}
    for name, command in (
        ('four Linear 4096, batch 64', 'four_linears.pt --input f32:64x4096'),
        ('ResNet-50, batch 32', 'resnet50.pt --input f32:32x3x224x224'),
    ):
        peaks = page.variants(command, *(f'train+optimizer={optimizer}' for optimizer in optimizers))
        least = peaks['train+optimizer=sgd']
        for variant, peak in peaks.items():
            optimizer = variant.removeprefix('train+optimizer=')
            parameters = peak['by_category']['parameters']
            state = peak['by_category']['optimizer_state'] / parameters
            above[name, optimizer] = (peak['allocated_bytes'] - least['allocated_bytes']) / parameters
            if optimizer != 'sgd':
                need(1.9 < state < 2.1, f'the state of {optimizer} is twice the parameters')
            rows.append(
                [
                    name,
                    optimizer,
                    size(parameters),
                    f'{state:.2f}',
                    size(peak['allocated_bytes']),
                    '-' if 'bf16' in optimizer else f'{above[name, optimizer]:.2f}',
                    peak['phase'],
                ]
            )
    estimate = page.runs.json('torchmem estimate --params 7B --optimizer adam', [0])['estimates'][0]['stages'][0]
    page.commands.append('torchmem estimate --params 7B --optimizer adam')
    need(
        estimate['optimizer_state_bytes'] == 2 * estimate['weights_bytes'] == 2 * estimate['gradients_bytes'],
        'the estimate says the same',
    )
    linears, resnet = 'four Linear 4096, batch 64', 'ResNet-50, batch 32'
    need(
        abs(above[linears, 'adam:fused'] - 2) < 0.02
        and abs(above[linears, 'adam'] - 2.5) < 0.02
        and abs(above[linears, 'adam:foreach'] - 3) < 0.02,
        'the step itself needs up to one more',
    )
    need(
        all(abs(above[resnet, form] - 2.05) < 0.05 for form in ('adam', 'adam:foreach', 'adam:fused')),
        'with large activations the form does not matter',
    )
    page.verdict = (
        '**True of the state. The peak can rise by three times the parameters**: where it is in the optimizer\'s step,'
        ' the step\'s own temporaries come on top.'
    )
    page.add(
        table(
            [
                'model',
                'optimizer',
                'parameters',
                'state / parameters',
                'peak',
                'above SGD, in parameters',
                'peak is in',
            ],
            rows,
        ),
        'State is two tensors for each parameter, of its type: with bf16 weights, half as much of both. What differs'
        ' from 2.00 is the allocator\'s rounding, here and there, of many tensors. State appears in the first step and'
        ' stays, so that one iteration alone does not show it beside the activations.',
        'The form decides about the step: `fused` needs nothing more, a loop has temporaries for one tensor at a time,'
        ' `foreach` (Python\'s default) for all of them. Where activations make the peak, in backward, the temporaries'
        ' do not show.',
        f'Weights, gradients and state are four times the parameters: {estimate["total_bytes"] / 1e9:,.0f} GB for 7'
        ' billion in f32.',
    )
