"""Checks JSON against the part of JSON Schema (2020-12) that docs/schema uses; another keyword is an error."""
import json
import re

KNOWN = {'$schema', '$id', '$defs', '$ref', 'title', 'description', 'type', 'const', 'enum', 'properties', 'required',
         'additionalProperties', 'items', 'minItems', 'maxItems', 'minimum', 'maximum', 'pattern', 'anyOf'}
TYPES = {
    'object': lambda value: isinstance(value, dict),
    'array': lambda value: isinstance(value, list),
    'string': lambda value: isinstance(value, str),
    'integer': lambda value: isinstance(value, int) and not isinstance(value, bool),
    'number': lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    'boolean': lambda value: isinstance(value, bool),
    'null': lambda value: value is None,
}


def problems(document, path):
    """What is wrong with the document, as texts; none when it is as the schema in that file says."""
    return list(_check(document, _Schema(path), '$'))


class _Schema:
    def __init__(self, path, node=None, root=None):
        self.path = path
        self.root = root if root is not None else json.loads(path.read_text())
        self.node = node if node is not None else self.root

    def inner(self, node):
        return _Schema(self.path, node, self.root)

    def resolve(self, reference):
        file, _, pointer = reference.partition('#')
        schema = _Schema(self.path.parent / file) if file else self.inner(self.root)
        node = schema.root
        for part in filter(None, pointer.split('/')):
            node = node[part]
        return schema.inner(node)


def _check(value, schema, place):
    node = schema.node
    if node is True:
        return
    unknown = set(node) - KNOWN
    if unknown:
        yield f'{place}: the schema uses {sorted(unknown)}, which this checker does not know'
    if '$ref' in node:
        yield from _check(value, schema.resolve(node['$ref']), place)
    if 'type' in node:
        types = node['type'] if isinstance(node['type'], list) else [node['type']]
        if not any(TYPES[name](value) for name in types):
            yield f'{place}: {value!r} is not of type {types}'
            return
    if 'const' in node and value != node['const']:
        yield f'{place}: {value!r} is not {node["const"]!r}'
    if 'enum' in node and value not in node['enum']:
        yield f'{place}: {value!r} is none of {node["enum"]}'
    if 'minimum' in node and TYPES['number'](value) and value < node['minimum']:
        yield f'{place}: {value} is less than {node["minimum"]}'
    if 'maximum' in node and TYPES['number'](value) and value > node['maximum']:
        yield f'{place}: {value} is more than {node["maximum"]}'
    if 'pattern' in node and isinstance(value, str) and not re.search(node['pattern'], value):
        yield f'{place}: {value!r} does not match {node["pattern"]}'
    if 'anyOf' in node:
        tries = [list(_check(value, schema.inner(option), place)) for option in node['anyOf']]
        if all(tries):
            yield f'{place}: none of the alternatives fits: {tries}'
    if isinstance(value, dict):
        yield from _check_object(value, schema, place)
    if isinstance(value, list):
        if len(value) < node.get('minItems', 0) or len(value) > node.get('maxItems', len(value)):
            yield f'{place}: {len(value)} items'
        for index, item in enumerate(value):
            if 'items' in node:
                yield from _check(item, schema.inner(node['items']), f'{place}[{index}]')


def _check_object(value, schema, place):
    node = schema.node
    for name in node.get('required', []):
        if name not in value:
            yield f'{place}: {name!r} is missing'
    for name, item in value.items():
        if name in node.get('properties', {}):
            yield from _check(item, schema.inner(node['properties'][name]), f'{place}.{name}')
        elif node.get('additionalProperties', True) is False:
            yield f'{place}: {name!r} is not expected'
        elif isinstance(node.get('additionalProperties'), dict):
            yield from _check(item, schema.inner(node['additionalProperties']), f'{place}.{name}')
