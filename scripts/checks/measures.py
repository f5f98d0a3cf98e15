"""How long functions, files and folders may be.

What is longer stands in exceeding.txt with what it has today. Those numbers only fall: a measure that grew is a
complaint, and so is one that fell without its line (`scripts/check --shrink` lowers the numbers, and takes out what is
within the bounds now).
"""

import pathlib
import re

FUNCTION_LINES = 60
FILE_LINES = 450
FOLDER_LINES = {'src/cli': 3000}

LIST = 'scripts/checks/exceeding.txt'
COUNTED = {'.c', '.cpp', '.h', '.py', '.js', '.css', '.html'}
# What ends with a brace and is no function.
CONTAINER = re.compile(r'\s*(?:(?:inline |typedef |export )?(?:namespace|class|struct|union|enum|extern)\b)')
TEMPLATE = re.compile(r'^\s*template\s*<.*>\s*')


def name_of(head):
    """The function's name in its first lines, from what is before its parameters."""
    found = re.search(r'(operator\s*\S+?|~?[\w:]+(?:<[^()]*>)?)\s*\(', head)
    return found.group(1) if found else head.strip()


def functions(lines):
    """(name, line, lines) of each function of clang-formatted C++: a body ends at its opening line's indentation."""
    number, head = 0, []
    while number < len(lines):
        line = lines[number]
        head = head + [line] if head else [line]
        joined = TEMPLATE.sub('', ' '.join(head))
        text = line.split('//')[0].rstrip()
        ends = text.endswith(('{', ';', '}', ':')) or not text or text.lstrip().startswith(('#', '/', '*'))
        if text.endswith('{') and '(' in joined and not CONTAINER.match(joined) and not re.search(r'=\s*{$', text):
            indent = re.match(r'\s*', head[0]).group()
            end = next((at for at in range(number + 1, len(lines)) if lines[at].startswith(indent + '}')), None)
            if end is not None:
                start = number - len(head) + 1
                yield name_of(joined), start + 1, end - start + 1
                number = end
        if ends:
            head = []
        number += 1


def measured(tree):
    """{what: (value, bound)} of everything that is above its bound."""
    found = {}
    for name in tree.c_family('include', 'src'):
        for function, _, length in functions(tree.lines(name)):
            if length > FUNCTION_LINES:
                found[f'function {name} {function}'] = (length, FUNCTION_LINES)
    for name in tree.below('include', 'src'):
        if pathlib.PurePath(name).suffix in COUNTED and len(tree.lines(name)) > FILE_LINES:
            found[f'file {name}'] = (len(tree.lines(name)), FILE_LINES)
    for folder, bound in FOLDER_LINES.items():
        length = sum(len(tree.lines(name)) for name in tree.c_family(folder))
        if length > bound:
            found[f'folder {folder}'] = (length, bound)
    return found


def listed(tree):
    """{what: lines} of the list."""
    found = {}
    for line in tree.lines(LIST) if tree.exists(LIST) else []:
        if line and not line.startswith('#'):
            what, _, length = line.rpartition(' ')
            found[what] = int(length)
    return found


def check(tree):
    known, now = listed(tree), measured(tree)
    for what, (length, bound) in now.items():
        if what not in known:
            yield f'{what}: {length} lines; at most {bound}'
        elif length > known[what]:
            yield f'{what}: {length} lines; it had {known[what]}, and {bound} are meant'
    for what, length in known.items():
        if what not in now or now[what][0] < length:
            yield f'{what}: shorter than its {length} lines of {LIST}; scripts/check --shrink lowers the number'


def shrink(tree):
    """Lowers the list's numbers to what is so, and takes out what is within its bound; never adds a line."""
    now, lines = measured(tree), []
    for line in tree.lines(LIST):
        if line and not line.startswith('#'):
            what, _, length = line.rpartition(' ')
            if what not in now:
                continue
            line = f'{what} {min(int(length), now[what][0])}'
        lines.append(line)
    (tree.root / LIST).write_text('\n'.join(lines) + '\n', encoding='utf-8')
