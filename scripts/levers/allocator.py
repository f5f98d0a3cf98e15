"""What the allocator keeps, and what its settings change."""

from levers.page import GIB, need, saved, size, table


def fragmentation(page):
    plain = page.run('scenario scenarios/free_but_fragmented.json')
    oom = next(row['out_of_memory'] for row in plain['rows'] if 'out_of_memory' in row)
    need(
        not plain['unmet']
        and (oom['requested_bytes'], oom['reserved_bytes'] - oom['allocated_bytes'], oom['largest_free_block_bytes'])
        == (3 * GIB, 4 * GIB, GIB),
        '3 GiB fail with 4 GiB free in pieces of 1 GiB',
    )
    cures = {}
    for setting in ('expandable_segments:True', 'max_split_size_mb:1024'):
        result = page.run(f'scenario scenarios/free_but_fragmented.json --alloc-conf {setting}', codes=(1,))
        cures[setting] = not any('out_of_memory' in row for row in result['rows'])
    need(all(cures.values()), 'both settings make room')
    whole = page.run('scenario scenarios/free_in_whole_segments.json')
    need(not whole['unmet'], 'whole segments are given back')
    page.verdict = (
        '**True, where the free memory is in pieces of segments that are in use, and the device has no more. Free'
        ' segments are no obstacle.**'
    )
    page.add(
        table(
            ['scenario', 'free in', 'settings', '3 GiB more'],
            [
                ['free_but_fragmented', 'four pieces of 1 GiB, each beside 2 GiB in use', 'default', 'fail'],
                *(['free_but_fragmented', 'the same requests', f'`{setting}`', 'succeed'] for setting in cures),
                ['free_in_whole_segments', 'four segments of 1 GiB', 'default', 'succeed'],
            ],
        ),
        f'In the first scenario {size(oom["reserved_bytes"])} are reserved and {size(oom["allocated_bytes"])} allocated'
        f' under a limit of {size(oom["limit_bytes"])}; the largest free block has'
        f' {size(oom["largest_free_block_bytes"])}. A tensor lies in one block, and a block in one segment. Without a'
        ' limit, the allocator would have asked the device for another 3 GiB, so it takes a full device as well.',
        'Segments that are free as a whole never matter: before it fails, the allocator gives all of them back and'
        ' tries again. So "4 GiB free" in the message says little; the largest free block is what counts.',
        'With expandable segments there is one segment that grows, in which neighbours join: 3 + 3 + 3 + 3 become 12,'
        ' and four times 2 leave 4 in one piece. `max_split_size_mb:1024` keeps the 3 GiB blocks from being cut for 2'
        ' GiB. (Both end with exit code 1, as the scenario\'s expectation to fail is not met.) Neither changes what is'
        ' allocated.',
    )
    rows, end = [], {}
    for setting in ('', ' --alloc-conf expandable_segments:True', ' --alloc-conf max_split_size_mb:20'):
        result = page.run(f'scenario scenarios/weights_in_freed_blocks.json --limit 16GiB{setting}', codes=(0, 1))
        end[setting] = result['rows'][-1]
        last = end[setting]['allocated_bytes']['current']
        rows.append(
            [
                f'`{setting.split()[-1]}`' if setting else 'default',
                'out of memory' if result['error'] else 'fits',
                size(result['peak']['reserved_bytes']),
            ]
        )
        need(bool(result['error']) == (setting == ''), 'the layers fit with either setting, not without')
    joined = end[' --alloc-conf expandable_segments:True']
    need(
        joined['reserved_bytes']['current'] < joined['peak_reserved_bytes'] - 2 * GIB,
        'at the limit, free pages of the segment were given back',
    )
    page.show_commands()
    page.add(
        f'Sixteen layers whose weights settle in freed blocks need {size(last)} at the end and do not fit 16 GiB by'
        ' default:',
        table(['settings', 'sixteen layers', 'peak reserved'], rows),
        'Here each free piece has blocks in use on both sides, and nothing joins. An expandable segment still gets on:'
        ' at the limit it gives the pages of its free pieces back, and maps them at its end'
        f' ({size(joined["reserved_bytes"]["current"])} are reserved after the last layer).',
    )


def empty_cache(page):
    rows, change = [], {}
    for name, command in {
        'ResNet-50, batch 32': 'resnet50.pt --input f32:32x3x224x224',
        'MLP, batch 65,536': 'mlp.pt --input f32:65536x784',
        'small decoder, 16 x 512': 'gpt_small.pt --input i64:16x512:below=8000',
    }.items():
        before, after = (page.run(f'profile {command}{option}')['peak'] for option in ('', ' --empty-cache'))
        change[name] = [after[kind] / before[kind] for kind in ('allocated_bytes', 'reserved_bytes')]
        rows.append(
            [
                name,
                *(size(peak['allocated_bytes']) for peak in (before, after)),
                *(size(peak['reserved_bytes']) for peak in (before, after)),
                saved(before['reserved_bytes'], after['reserved_bytes']),
            ]
        )
    need(all(abs(ratio[0] - 1) < 0.001 for ratio in change.values()), 'peak allocated stays')
    reserved = [ratio[1] for ratio in change.values()]
    need(reserved[0] > 1 and reserved[2] < 0.9, 'peak reserved goes either way')
    page.verdict = (
        '**It helps others, not yourself.** What is allocated stays. What is reserved falls between steps, and comes'
        ' back; the peak of it can be lower or higher.'
    )
    page.add(
        table(
            [
                'training, empty_cache after each step',
                'peak allocated',
                'with',
                'peak reserved',
                'with',
                'saved of reserved',
            ],
            rows,
        ),
        'Cached memory is PyTorch\'s own: the next step takes it again, without asking the device. To give it back'
        ' between steps makes the allocator cut its segments anew around what is left (weights, optimizer state), which'
        ' can come out better or worse, and waits for the device each time.',
    )
    rows = page.run('scenario scenarios/release_and_empty_cache.json')['rows']
    at = {row['action']: row['reserved_bytes']['current'] for row in rows if 'reserved_bytes' in row}
    need(at['release a'] == GIB and at['empty_cache'] == 0, 'empty_cache gives cached memory to the device')
    retry = page.run('scenario scenarios/free_in_whole_segments.json')['rows'][-2]
    need(
        retry['action'].startswith('alloc more') and retry['alloc_retries'] == 1,
        'the allocator empties its cache before it fails',
    )
    stuck = page.run('scenario scenarios/free_but_fragmented.json')['rows'][-2]
    need(
        stuck['action'] == 'empty_cache'
        and stuck['reserved_bytes']['current'] == 12 * GIB
        and stuck['allocated_bytes']['current'] == 8 * GIB,
        'empty_cache does not touch segments in use',
    )
    changing = page.run('scenario scenarios/lengths_changing.json')['peak']['reserved_bytes']
    padded = page.run('scenario scenarios/lengths_padded.json')['peak']['reserved_bytes']
    need(changing > 2 * padded, 'changing lengths reserve more than twice of padded ones')
    page.show_commands()
    page.add(
        '- It helps when another process wants the device\'s memory: 1 GiB that was released goes from reserved to 0'
        ' (the first scenario).\n- It does not help at an out-of-memory: the allocator does the same before it fails'
        ' (the second).\n- It does not help against fragmentation: a segment with a byte in use stays. In the third,'
        f' {size(stuck["reserved_bytes"]["current"])} stay reserved for {size(stuck["allocated_bytes"]["current"])}.\n-'
        f' Where reserved memory grows because lengths change ({size(changing)} in the fourth), it would lower it'
        f' between turns; padding ({size(padded)} in the last) or a first batch of the greatest length keeps it from'
        ' growing.'
    )
