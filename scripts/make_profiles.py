#!/usr/bin/env python3
"""Makes the device profiles of the cards that nobody ran: src/vgpu/profiles/ID.json from src/vgpu/cards.json.

    make_profiles.py [ID...]    writes the profiles of these cards, or of all
    make_profiles.py --check    compares instead: exit 1, and each difference with its file and field

The table holds what differs from card to card, with its source, and once for each compute capability what all its cards
share. The rest is the verified profile's, h200.json: what is the same on every card, and what is estimated from it by
the rules below.
"""
import argparse
import json
import pathlib
import sys
import textwrap

WIDTH = 112
MIB = 1 << 20
# Numbers of the H200 that say nothing about another card, and for which nothing is published.
NOT_OTHERS = {
    'properties': ['persistingL2CacheMaxSize', 'accessPolicyMaxWindowSize', 'gpuPciDeviceID', 'gpuPciSubsystemID'],
    # Clock and memory clock (boards differ), persisting L2, access policy window, PCI ids.
    'attributes': ['13', '36', '108', '109', '139', '140'],
    # Persisting L2 and the most dynamic shared memory.
    'limits': ['6', '7'],
}
# The ratio of single to double precision: known for the H200's compute capability alone.
PERFORMANCE_RATIO = '87'
# cudaDeviceAttr's number of each property that a card or a compute capability sets.
ATTRIBUTE_OF = {
    'multiProcessorCount': '16', 'ECCEnabled': '32', 'memoryBusWidth': '37', 'l2CacheSize': '38',
    'maxThreadsPerMultiProcessor': '39', 'asyncEngineCount': '40', 'major': '75', 'minor': '76',
    'sharedMemPerMultiprocessor': '81', 'sharedMemPerBlockOptin': '97', 'maxBlocksPerMultiProcessor': '106',
    'reservedSharedMemPerBlock': '111', 'clusterLaunch': '120',
}
CARD_KEYS = {'name', 'capability', 'total_bytes', 'properties', 'sources', 'note'}


def without(numbers, keys):
    return {key: value for key, value in numbers.items() if key not in keys}


def threads(properties):
    """How many threads a card holds at once: what the context and the kernels' local memory are laid out for."""
    return properties['multiProcessorCount'] * properties['maxThreadsPerMultiProcessor']


def estimated_memory(h200, properties):
    share = threads(properties) / threads(h200['properties'])

    def scaled(size):
        return round(size * share / (2 * MIB)) * 2 * MIB

    memory = dict(h200['memory'], context_bytes=scaled(h200['memory']['context_bytes']))
    memory['loads'] = dict(memory['loads'], local_memory=scaled(memory['loads']['local_memory']))
    return memory


def sources_of(card, table, profile, same_capability):
    """Every field of the profile, in exactly one entry."""
    capabilities = table['capabilities']
    of_capability = ['major', 'minor', *capabilities['numbers'][card['capability']], *capabilities['same_for_all']]
    named = {
        'properties': ['properties.' + key for key in card['properties']],
        'device_query': ['properties.' + key for key in table['device_query']],
    }
    sources = []
    for source in card['sources']:
        if 'address' not in source and 'address is not known' not in source['source'] and source['fields'] != ['note']:
            raise ValueError(f'{profile["id"]}: a source has no address: {source["source"]}')
        fields = [field for key in source['fields'] for field in named.get(key, [key])]
        sources.append(dict(source, fields=fields))
    sources.append({'source': f'{capabilities["source"]}: {card["capability"]}', 'address': capabilities['address'],
                    'fields': ['properties.' + key for key in of_capability]})
    known = {field for source in sources for field in source['fields']}
    left = [f'properties.{key}' for key in profile['properties'] if f'properties.{key}' not in known]
    sources += [
        {'source': 'no published number was looked for: taken as read off an H200 (h200.json). Nothing that PyTorch '
                   'allocates is decided by them', 'fields': left + ['limits', 'stream_priorities', 'pci']},
        {'source': 'the same numbers as in properties, by cudaDeviceAttr (CUDA Runtime API, Data types); those that '
                   'are in no property as read off an H200. Left out, since no number is known: clocks, persisting '
                   'L2, PCI ids'
                   + ('' if same_capability else ', the ratio of single to double precision'),
         'address': 'https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html',
         'fields': ['attributes']},
        {'source': 'estimated from the H200\'s measured ones: context and local memory in proportion to '
                   'multiprocessors x threads per multiprocessor, the others as measured there', 'fields': ['memory']},
        {'source': 'the software that PyTorch 2.11 for CUDA 13.0 comes with, as in h200.json', 'fields': ['versions']},
        {'source': 'recorded on an H200: cuDNN may choose other engines, with other workspaces, on this card',
         'fields': ['cudnn_facts']},
        {'source': 'read off an H200, of the same compute capability' if same_capability else
                   'none is known for this compute capability: how many blocks fit is computed from threads and '
                   'shared memory',
         'fields': ['kernels']},
    ]
    return sources


def make(identity, table, h200):
    card = table['cards'][identity]
    if unknown := set(card) - CARD_KEYS:
        raise ValueError(f'{identity}: unknown keys {sorted(unknown)}')
    major, minor = (int(number) for number in card['capability'].split('.'))
    same_capability = (major, minor) == (h200['properties']['major'], h200['properties']['minor'])
    own = {'major': major, 'minor': minor, **table['capabilities']['numbers'][card['capability']], **card['properties']}
    properties = {**without(h200['properties'], NOT_OTHERS['properties']), **own}
    attributes = without(h200['attributes'],
                         NOT_OTHERS['attributes'] + ([] if same_capability else [PERFORMANCE_RATIO]))
    attributes.update({ATTRIBUTE_OF[key]: value for key, value in own.items()})
    profile = {
        'schema': h200['schema'], 'id': identity, 'name': card['name'], 'verified': False,
        'source': 'published numbers, "sources" says which; run on no such card',
        **({'note': card['note']} if 'note' in card else {}),
        'total_bytes': card['total_bytes'], 'versions': h200['versions'], 'memory': estimated_memory(h200, properties),
        'cudnn_facts': h200['cudnn_facts'], 'pci': h200['pci'], 'stream_priorities': h200['stream_priorities'],
        'limits': without(h200['limits'], NOT_OTHERS['limits']), 'properties': properties, 'attributes': attributes,
        'kernels': h200['kernels'] if same_capability else {},
    }
    profile['sources'] = sources_of(card, table, profile, same_capability)
    named = [field for source in profile['sources'] for field in source['fields']]
    fields = [key for key in profile if key not in ('schema', 'id', 'verified', 'source', 'sources', 'properties')]
    fields += ['properties.' + key for key in properties]
    if sorted(named) != sorted(fields):
        raise ValueError(f'{identity}: not named once in sources: {sorted(set(named) ^ set(fields)) or sorted(named)}')
    return profile


def wrapped(pieces, indent):
    text = textwrap.fill(', '.join(pieces), WIDTH, initial_indent=indent, subsequent_indent=indent,
                         break_long_words=False,
                         break_on_hyphens=False)
    return text.rstrip()


def written(profile):
    """JSON for people: one line a member, and the long ones wrapped."""
    members = []
    for key, value in profile.items():
        if key in ('properties', 'attributes'):
            # A non-breaking mark keeps a name and its number, or a list, on one line.
            pieces = [f'{json.dumps(name)}: {json.dumps(number)}'.replace(' ', '\0') for name, number in value.items()]
            text = '{\n' + wrapped(pieces, '    ').replace('\0', ' ') + '\n  }'
        elif key == 'kernels' and value:
            lines = [f'    {json.dumps(name)}: {json.dumps(facts)}' for name, facts in value.items()]
            text = '{\n' + ',\n'.join(lines) + '\n  }'
        elif key == 'sources':
            entries = []
            for source in value:
                heads = [f'"{name}": {json.dumps(source[name])}' for name in ('source', 'address') if name in source]
                fields = wrapped([json.dumps(field) for field in source['fields']], '       ').lstrip()
                entries.append('    {' + ',\n     '.join(heads) + ',\n     "fields": [' + fields + ']}')
            text = '[\n' + ',\n'.join(entries) + '\n  ]'
        else:
            text = json.dumps(value)
        members.append(f'  {json.dumps(key)}: {text}')
    return '{\n' + ',\n'.join(members) + '\n}\n'


def differences(given, made, path=''):
    if isinstance(given, dict) and isinstance(made, dict):
        for key in [*made, *(key for key in given if key not in made)]:
            field = f'{path}.{key}' if path else key
            if key not in given:
                yield f'{field} is missing; the table gives {json.dumps(made[key])}'
            elif key not in made:
                yield f'{field} is {json.dumps(given[key])}; the table has no such field'
            else:
                yield from differences(given[key], made[key], field)
    elif given != made:
        yield f'{path} is {json.dumps(given)}; the table gives {json.dumps(made)}'


def check(profiles, made):
    found = []
    for identity, profile in made.items():
        file = profiles / f'{identity}.json'
        if not file.is_file():
            found.append(f'{file.name}: is missing')
            continue
        text = file.read_text(encoding='utf-8')
        try:
            found_here = [f'{file.name}: {difference}' for difference in differences(json.loads(text), profile)]
        except json.JSONDecodeError as error:
            found_here = [f'{file.name}: is no JSON: {error}']
        if not found_here and text != written(profile):
            found_here = [f'{file.name}: has the same numbers, written otherwise']
        found += found_here
    known = {f'{identity}.json' for identity in made} | {'h200.json'}
    found += [f'{file.name}: is not in the table' for file in sorted(profiles.glob('*.json')) if file.name not in known]
    return found


def main():
    sources = pathlib.Path(__file__).resolve().parent.parent / 'src' / 'vgpu'
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('cards', nargs='*', metavar='ID', help='cards of the table; none: all')
    parser.add_argument('--check', action='store_true', help='write nothing, compare')
    parser.add_argument('--table', type=pathlib.Path, default=sources / 'cards.json',
                        help='default: src/vgpu/cards.json')
    parser.add_argument('--profiles', type=pathlib.Path, default=sources / 'profiles',
                        help='folder with h200.json and the others; default: src/vgpu/profiles')
    arguments = parser.parse_args()
    table = json.loads(arguments.table.read_text(encoding='utf-8'))
    h200 = json.loads((arguments.profiles / 'h200.json').read_text(encoding='utf-8'))
    for key, number in ATTRIBUTE_OF.items():
        if h200['attributes'][number] != h200['properties'][key]:
            sys.exit(f'h200.json: attribute {number} is not {key}')
    if unknown := [card for card in arguments.cards if card not in table['cards']]:
        parser.error(f'no such card: {", ".join(unknown)}. Cards: {", ".join(table["cards"])}')
    if arguments.check:
        found = check(arguments.profiles, {card: make(card, table, h200) for card in table['cards']})
        for line in found:
            print(line)
        if found:
            print('Change src/vgpu/cards.json, then run scripts/make_profiles.py.', file=sys.stderr)
        return 1 if found else 0
    for card in arguments.cards or table['cards']:
        (arguments.profiles / f'{card}.json').write_text(written(make(card, table, h200)), encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
