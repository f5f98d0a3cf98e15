"""What makes activations less: in-place, smaller types, checkpoints."""

from levers.page import BERT, MIB, need, saved, size, table


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
        rows.append(
            [
                name,
                size(before['allocated_bytes']),
                size(after['allocated_bytes']),
                saved(before['allocated_bytes'], after['allocated_bytes']),
                *kept,
            ]
        )
        if 'LeakyReLU' in name:
            need(
                2 * after['by_category']['activations'] == before['by_category']['activations'],
                'LeakyReLU in-place halves what is kept',
            )
    relu, leaky, gelu, training, inference = ratio.values()
    need(relu == gelu == 1, 'ReLU and GELU in-place save nothing in training')
    need(
        leaky < 0.7 and 0.8 < inference < 0.95 and 1 < training < 1.05,
        'LeakyReLU saves in training, GELU in inference only',
    )
    page.verdict = (
        '**True of what is kept for backward, with LeakyReLU behind a layer that does not need its own result. With'
        ' ReLU it saves nothing in training, with GELU it can cost.**'
    )
    page.add(
        table(['model', 'as it is', 'in-place', 'saved', 'activations', 'in-place'], rows),
        'What matters is what backward keeps. Of ReLU, sigmoid and tanh it is the result. The input was free as soon as'
        ' they returned, in-place or not, so that nothing is saved at a peak in backward. Of LeakyReLU and ELU it is'
        ' the input, beside the result that the next layer keeps: two tensors a layer. In-place they keep the result,'
        ' and both are one. GELU and SiLU need their input whatever happens, so that autograd copies it before it is'
        ' written over.',
        'In inference nothing is kept, and the saving is the result of one activation, where that is when the peak is.',
    )


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
        if name == 'MLP, batch 64, training':
            need({peak['phase'] for peak in peaks.values()} == {'optimizer'}, 'its peak is in the step')
    resnet, bert, bert_alone, mlp, mlp_alone = ratio.values()
    need(0.5 < resnet[0] < 0.65 and 0.65 < bert[0] < 0.8, 'autocast saves a quarter to not quite half of training')
    need(
        bert_alone[0] > 1 and mlp_alone[0] > 1.2 and 0.99 < mlp[0] < 1.01,
        'autocast costs in inference, and does nothing where weights are the peak',
    )
    need(all(0.5 < converted < 0.6 for _, converted in (resnet, bert, mlp)), 'bf16 weights nearly halve training')
    need(mlp_alone[1] > 0.85, 'converting on the device needs both copies')
    page.verdict = (
        f'**Of bf16 weights nearly true in training. Of autocast not: it saves {saved(1, resnet[0])} here, or'
        f' {saved(1, bert[0])}, or nothing, and {saved(1, mlp_alone[0])} in inference.**'
    )
    page.add(
        table(['run', 'f32', 'autocast', 'saved', 'bf16 weights', 'saved'], rows),
        'Autocast halves what products and convolutions make. Weights, gradients and optimizer state stay in f32, and'
        ' each weight gets a copy in bf16, which lives until autocast ends. What runs in f32 under autocast (layer'
        ' normalisation, softmax, losses) keeps f32 for backward, which is why BERT saves less than ResNet-50. The'
        ' MLP\'s peak in training is in the optimizer\'s step, of which autocast changes nothing. Without gradients'
        ' there are few activations to halve, and the copies of the weights remain.',
        '`model.to(torch.bfloat16)` halves everything; what keeps it from half is workspaces, and in inference the'
        ' moment of conversion, when both copies are on the device. The optimizer then works in bf16 as well, which is'
        ' another training.',
    )


def checkpointing(page):
    rows, kept, whole = [], {}, {}
    for layers in (16, 64, 256):
        command = f'profile deep_{layers}.pt --input f32:65536x64'
        before, after = (page.run(command + option)['peak'] for option in ('', ' --checkpoint auto'))
        kept[layers] = [peak['by_category']['activations'] / (16 * MIB) for peak in (before, after)]
        whole[layers] = after['allocated_bytes'] / before['allocated_bytes']
        rows.append(
            [
                f'{layers} equal layers',
                *(size(peak['by_category']['activations']) for peak in (before, after)),
                f'{kept[layers][0]:.0f}',
                f'{kept[layers][1]:.0f}',
                saved(before['allocated_bytes'], after['allocated_bytes']),
            ]
        )
    need(all(kept[layers][0] == 2 * layers - 2 for layers in kept), 'all layers keep two tensors each')
    need(
        all(abs(kept[layers][1] - 3 * layers**0.5) <= 3 for layers in kept),
        'checkpointed they keep about three times the square root',
    )
    others, share = [], []
    for name, command, modules in (
        ('ResNet-50, batch 32', 'resnet50.pt --input f32:32x3x224x224', ' --checkpoint auto'),
        ('small decoder, 16 x 512', 'gpt_small.pt --input i64:16x512:below=8000', ' --checkpoint auto'),
        ('MLP, batch 64', 'mlp.pt --input f32:64x784', ' --checkpoint 0 --checkpoint 2'),
    ):
        before, after = (page.run(f'profile {command}{option}')['peak'] for option in ('', modules))
        others.append(
            [
                name,
                *(size(peak['by_category']['activations']) for peak in (before, after)),
                '',
                '',
                saved(before['allocated_bytes'], after['allocated_bytes']),
            ]
        )
        share.append(1 - after['allocated_bytes'] / before['allocated_bytes'])
    need(0.3 < share[0] < 0.6 and 0.3 < share[1] < 0.7 and share[2] < 0.05, 'real models save a part, weights nothing')
    page.verdict = (
        '**True of equal layers in a chain, of activations alone, and with a factor.** Real models save'
        f' {saved(1, 1 - share[0])} and {saved(1, 1 - share[1])} of their peak here; one whose peak is weights saves'
        ' nothing.'
    )
    page.add(
        table(
            [
                'model, training',
                'activations',
                'checkpointed',
                'in tensors of a layer',
                'checkpointed',
                'saved of the peak',
            ],
            rows + others,
        ),
        'The chains have as many groups as a group has layers, and each group is checkpointed. In forward a group keeps'
        ' its input, so N layers keep sqrt(N) tensors. In backward one group is run again and keeps all of its own,'
        ' another 2 sqrt(N), as a layer of Linear and GELU keeps two. Together: 3 sqrt(N) in place of 2 N, which is'
        ' little at 16 layers and much at 256.',
        'In ResNet-50 the layers are not equal: the first blocks are the largest, and all of such a block is there'
        ' while it is run again. In a decoder the result and its gradient stay as large as they were. Parameters,'
        ' gradients and optimizer state are never less. The price is a second forward pass.',
    )
