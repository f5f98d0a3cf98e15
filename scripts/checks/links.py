"""Every link of a Markdown file leads to a file of the checkout, and to a heading that is there.

Addresses on the web are not asked: a check must give the same answer tomorrow.
"""

import pathlib
import posixpath
import re
import urllib.parse

from . import markdown

LINK = re.compile(r'\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)')
DEFINITION = re.compile(r'^ {0,3}\[([^\]]+)\]:\s*<?(\S+?)>?\s*$')
REFERENCE = re.compile(r'\[[^\]]+\]\[([^\]]*)\]')
ATTRIBUTE = re.compile(r'\b(?:href|src)="([^"]+)"')
HEADING = re.compile(r' {0,3}#{1,6} +(.*?) *#*$')
CODE_SPAN = re.compile(r'(`+)(?:(?!\1).)+\1')


def shown(text):
    """(number, line) of a page, without code blocks."""
    number = 1
    fenced = False
    for block, prose in markdown.blocks(text.split('\n')):
        for line in block:
            if not prose and markdown.FENCE.match(line):
                fenced = not fenced
            elif prose or not (fenced or line.startswith('    ')):
                yield number, line
            number += 1


def anchors(text):
    """The names that GitHub gives the headings of a page."""
    found = {}
    for _, line in shown(text):
        heading = HEADING.match(line)
        if heading:
            words = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading.group(1)).lower()
            name = re.sub(r'[^\w\- ]', '', words).strip().replace(' ', '-')
            count = found.get(name, 0)
            found[name] = count + 1
            yield f'{name}-{count}' if count else name


def targets(text):
    """(line, target) of each link of a page; a label that is not defined comes as (line, None)."""
    lines = [(number, CODE_SPAN.sub('', line)) for number, line in shown(text)]
    labels = {match.group(1).lower() for _, line in lines if (match := DEFINITION.match(line))}
    for number, line in lines:
        definition = DEFINITION.match(line)
        if definition:
            yield number, definition.group(2)
            continue
        for target in [*LINK.findall(line), *ATTRIBUTE.findall(line)]:
            yield number, target
        for label in REFERENCE.findall(line):
            if label.lower() not in labels:
                yield number, None


def wrong(tree, name, target):
    """Why this link of the page does not lead anywhere, or nothing."""
    if target is None:
        return 'a link to a label that the page does not define'
    if re.match(r'[a-z][a-z0-9+.-]*:', target):
        return None if re.match(r'(https?://[^/\s]+|mailto:.+@)', target) else f'{target} is no address'
    path, _, anchor = target.partition('#')
    page = name
    if path:
        page = posixpath.normpath(posixpath.join(posixpath.dirname(name), urllib.parse.unquote(path)))
        if page.startswith('../') or not tree.exists(page):
            return f'{target} leads to {page}, which does not exist'
    if anchor and page.endswith('.md') and anchor not in set(anchors(tree.text(page))):
        return f'{target}: {pathlib.PurePath(page).name} has no heading of that name'
    return None


def check(tree):
    for name in tree.markdown():
        for number, target in targets(tree.text(name)):
            why = wrong(tree, name, target)
            if why:
                yield f'{name}:{number}: {why}'
