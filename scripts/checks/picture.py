"""The picture of docs/architecture.md: which folder of src includes headers of which.

It is drawn from the #include lines, so it shows what is so. An arrow that follows from others (a uses b, b uses c) is
left out. What a folder is for is said in CONTRIBUTING.md, under "Where things are".
"""

import re

from . import includes

PAGE = 'docs/architecture.md'
FOLDERS = 'CONTRIBUTING.md'
BEGIN = '<!-- drawn by scripts/architecture -->'
END = '<!-- end of what is drawn -->'


def used(tree):
    """{folder: the other folders whose headers it includes} of every folder of src, and of the public API."""
    found = {includes.folder_of(name): set() for name in tree.c_family('include', 'src')}
    for _, _, folder, other in includes.uses(tree):
        if folder != other:
            found[folder].add(other)
    return found


def reachable(uses, folder):
    """All that a folder uses, itself or through others."""
    found, left = set(), list(uses[folder])
    while left:
        other = left.pop()
        if other not in found:
            found.add(other)
            left += uses[other]
    return found


def reduced(uses):
    """The same without what follows from the rest."""
    return {folder: {other for other in others
                     if not any(other in reachable(uses, between) for between in others - {other})}
            for folder, others in uses.items()}


def purposes(tree):
    """{folder: what it is for} from the list of folders."""
    found = {}
    for line in tree.lines(FOLDERS) if tree.exists(FOLDERS) else []:
        match = re.match(r' {4}(?:src|include)/(\w+)/?\s{1,}(\S.*)$', line)
        if match:
            found[match.group(1)] = re.sub(r'\s+', ' ', match.group(2)).strip()
    return found


def drawn(tree):
    """The picture as a block of Mermaid, and the table of who uses whom."""
    uses, what = used(tree), purposes(tree)
    order = sorted(uses, key=lambda folder: (-len(reachable(uses, folder)), folder))
    lines = [BEGIN, '', '```mermaid', 'flowchart TD']
    lines += [f'    {folder}["{"include/" if folder == "torchmem" else "src/"}{folder}"]' for folder in order]
    less = reduced(uses)
    lines += [f'    {folder} --> {other}' for folder in order for other in sorted(less[folder])]
    lines += ['```', '', '| folder | what is in it | includes |', '| --- | --- | --- |']
    for folder in order:
        others = ', '.join(f'`{other}`' for other in sorted(uses[folder])) or '-'
        lines.append(f'| `{folder}` | {what.get(folder, "")} | {others} |')
    return '\n'.join([*lines, '', END])


def page(tree):
    """The page's text with the picture of today, or None where it has no room for one."""
    before, begin, rest = tree.text(PAGE).partition(BEGIN)
    _, end, after = rest.partition(END)
    return before + drawn(tree) + after if begin and end else None


def check(tree):
    what = purposes(tree)
    for folder in used(tree):
        if folder not in what:
            yield f'{FOLDERS}: what is in src/{folder} is not said under "Where things are"'
    if not tree.exists(PAGE):
        yield f'{PAGE} is missing'
    elif page(tree) is None:
        yield f'{PAGE}: the lines {BEGIN} and {END}, between which the picture stands, are missing'
    elif page(tree) != tree.text(PAGE):
        yield f'{PAGE}: the picture is not what the includes are; scripts/architecture draws it'
