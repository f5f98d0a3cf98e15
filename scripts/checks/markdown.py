"""Prose of Markdown in lines that a reader of the file, or of a diff, can read.

A paragraph, or an item of a list, that has a line of more than WIDTH columns is filled anew; what fits stays as it is.
Tables, code, headings, HTML and definitions of links have no other lines than theirs and are left alone.
"""

import re

WIDTH = 120

FENCE = re.compile(r' {0,3}(```+|~~~+)')
ITEM = re.compile(r' *(?:[-*+]|\d+[.)]) +')
# Lines that are no prose: headings, tables, HTML, definitions of links, rules.
APART = re.compile(r' {0,3}(?:#{1,6}(?: |$)|\||<[!/a-zA-Z]|\[[^\]]+\]: |(?:[-*_] *){3,}$)')
# At a line's start these words would be read as a heading, an item, a quotation or a table.
MARKER = re.compile(r'(?:#{1,6}|[-*+]|\d+[.)]|>.*|\|.*|```.*|=+|-+)$')
# A code span is not broken over lines: who searches for a command finds it.
WORD = re.compile(r'(?:`[^`]+`|\S)+')


def words(text):
    """Words, code spans whole, none that would mean something else at a line's start on its own."""
    found = []
    for word in WORD.findall(text):
        if found and MARKER.match(word):
            found[-1] += ' ' + word
        else:
            found.append(word)
    return found


def fill(text, first, rest):
    """`text` in lines of at most WIDTH columns (more where a single word has more), after these indentations."""
    lines, line = [], first
    for word in words(text):
        if len(line) + len(word) > WIDTH and line.strip() and line != first:
            lines.append(line.rstrip())
            line = rest
        line += word + ' '
    return [*lines, line.rstrip()]


def fill_block(block):
    """A paragraph or an item with its lines; hard line ends stay."""
    if all(len(line) <= WIDTH for line in block):
        return block
    item = ITEM.match(block[0])
    indent = re.match(' *', block[0]).group()
    first = item.group() if item else indent
    rest = ' ' * len(first) if item else indent
    filled, piece = [], []
    for number, line in enumerate(block):
        piece.append(line[len(first):] if number == 0 else line.strip())
        hard = line.endswith(('  ', '\\'))
        if hard or number == len(block) - 1:
            filled += fill(' '.join(piece), rest if filled else first, rest)
            if hard and line.endswith('  '):
                filled[-1] += '  '
            piece = []
    return filled


def blocks(lines):
    """Yields (lines, whether they are prose)."""
    block, fence, listed = [], None, False
    for line in lines:
        opened = FENCE.match(line)
        code = line.startswith('    ') and not block and not listed
        if fence or opened or code or APART.match(line) or not line.strip():
            if block:
                yield block, True
                block = []
            if opened and not fence:
                fence = opened.group(1)
            elif fence and line.strip().startswith(fence):
                fence = None
            # What is indented after an item belongs to the list, until something stands at the left again.
            listed = listed and (not line.strip() or line.startswith(' '))
            yield [line], False
            continue
        if ITEM.match(line):
            if block:
                yield block, True
            block, listed = [line], True
            continue
        listed = listed and (bool(block) or line.startswith(' '))
        block.append(line)
    if block:
        yield block, True


def wrapped(text):
    lines = []
    for block, prose in blocks(text.split('\n')):
        lines += fill_block(block) if prose else block
    return '\n'.join(lines)


def check(tree):
    for name in tree.markdown():
        was, is_now = tree.lines(name), wrapped(tree.text(name)).splitlines()
        if was != is_now:
            first = next(number for number, (a, b) in enumerate(zip(was, is_now), 1) if a != b)
            yield f'{name}:{first}: prose of more than {WIDTH} columns; scripts/wrap_markdown {name} wraps it'
