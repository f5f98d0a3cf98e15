"""What must add up in every JSON document: the views of a moment, to the block.

A moment is any object with "by_category", "by_module" and so on (docs/schema/common.json); its sums stand beside the
views, or, at a peak of a whole run, under "at_peak".
"""
CATEGORIES = ['parameters', 'buffers', 'gradients', 'optimizer_state', 'inputs', 'activations', 'outputs',
              'temporaries',
              'workspaces', 'other']


def problems(document):
    """What does not add up, as texts."""
    found = []
    for place, node in _objects(document, '$'):
        if 'by_segment' in node:
            found += [f'{place}: {problem}' for problem in _moment(node)]
        elif isinstance(node.get('by_category'), dict) and 'allocated_bytes' in node:  # a summary, with no other view
            total = sum(node['by_category'].values())
            if total != node['allocated_bytes']:
                found.append(f'{place}: the categories are {total} bytes, of {node["allocated_bytes"]} allocated')
        elif 'bytes_per_iteration' in node:
            found += [f'{place}: {problem}' for problem in _growth(node)]
    return found


def _objects(node, place):
    if isinstance(node, dict):
        yield place, node
        for name, inner in node.items():
            yield from _objects(inner, f'{place}.{name}')
    elif isinstance(node, list):
        for index, inner in enumerate(node):
            yield from _objects(inner, f'{place}[{index}]')


def _total(entries, name='bytes'):
    return sum(entry[name] for entry in entries)


def _moment(node):
    sums = node.get('at_peak', node)
    allocated, reserved = sums['allocated_bytes'], sums['reserved_bytes']
    modules, tensors, segments = node['by_module'], node['by_tensor'], node['by_segment']
    rest = node.get('other_tensors', {'bytes': 0, 'requested_bytes': 0, 'blocks': 0})
    if list(sorted(node['by_category'])) != sorted(CATEGORIES):
        yield f'the categories are {sorted(node["by_category"])}'
    root = modules[0]
    if root['path'] != '':
        yield f'the first module is {root["path"]!r}, not the root'
    expected = {
        'allocated, as the peak says': node['allocated_bytes'],
        'categories': sum(node['by_category'].values()),
        'the root module': root['bytes'],
        "modules' own bytes": _total(modules, 'own_bytes'),
        "the root's categories": sum(root['by_category'].values()),
        'ops': _total(node['by_op']),
        'lines': _total(node['by_line']),
        'tensors': _total(tensors) + rest['bytes'],
        "segments' allocated bytes": _total(segments, 'allocated_bytes'),
    }
    for what, value in expected.items():
        if value != allocated:
            yield f'{what}: {value} bytes, but {allocated} are allocated'
    if root['by_category'] != node['by_category']:
        yield f'the root has the categories {root["by_category"]}, not {node["by_category"]}'
    for module in modules:
        if sum(module['by_category'].values()) != module['bytes']:
            yield f'module {module["path"]!r}: its categories do not add up to its {module["bytes"]} bytes'
        inner = [other for other in modules if _is_child(other['path'], module['path'])]
        if module['own_bytes'] + _total(inner) != module['bytes']:
            yield f'module {module["path"]!r}: its own and its children\'s bytes are not its {module["bytes"]} bytes'
    requested = {_total(node['by_op'], 'requested_bytes'), _total(node['by_line'], 'requested_bytes'),
                 _total(tensors, 'requested_bytes') + rest['requested_bytes']}
    if len(requested) != 1 or min(requested) > allocated:
        yield f'requested bytes of ops, lines and tensors: {requested}'
    blocks = {_total(node['by_op'], 'blocks'), _total(node['by_line'], 'blocks'), _total(modules, 'blocks'),
              len(tensors) + rest['blocks'], _total(segments, 'blocks')}
    if len(blocks) != 1:
        yield f'blocks of ops, lines, modules, tensors and segments: {blocks}'
    if _total(segments) != reserved:
        yield f'segments: {_total(segments)} bytes, but {reserved} are reserved'
    if _total(segments, 'active_bytes') + _total(segments, 'inactive_bytes') != reserved:
        yield f'active and inactive bytes do not add up to the {reserved} reserved'
    if _total(segments, 'active_bytes') != sums['active_bytes']:
        yield f'segments: {_total(segments, "active_bytes")} bytes active, but {sums["active_bytes"]} are'
    for segment in segments:
        if not segment['allocated_bytes'] <= segment['active_bytes'] <= segment['bytes'] \
                or segment['largest_inactive_bytes'] > segment['inactive_bytes']:
            yield f'segment {segment["address"]}: {segment}'
    if sums['largest_inactive_bytes'] != max([segment['largest_inactive_bytes'] for segment in segments], default=0):
        yield f'the largest free piece, {sums["largest_inactive_bytes"]} bytes, is in no segment'


def _is_child(path, above):
    """Whether the module is right below; a path whose middle is in no list belongs to the nearest that is."""
    if path == above:
        return False
    if above == '':
        return '.' not in path
    return path.startswith(above + '.') and '.' not in path[len(above) + 1:]


def _growth(node):
    for name in ('by_category', 'by_op', 'by_module', 'by_line'):
        if _total(node[name]) != node['bytes_per_iteration']:
            yield f'growth {name}: {_total(node[name])} bytes, not {node["bytes_per_iteration"]}'
