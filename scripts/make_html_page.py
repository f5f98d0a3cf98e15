#!/usr/bin/env python3
"""Makes a C++ file of the HTML report's page: page.html with its style and scripts in it, cut where the data goes.

The page's content security policy names the style and the script by their hashes, so that nothing else can run in it.
"""
import argparse
import base64
import hashlib
import pathlib
import re
import sys

# In this order; they share one scope.
SCRIPTS = ['words', 'data', 'sums', 'moment', 'groups', 'canvas', 'columns', 'tip', 'timeline', 'timeline_input',
           'overview', 'treemap', 'owners', 'segments', 'table', 'legend', 'head', 'main']
STYLES = ['style', 'views']
# Text from a run must never be read as markup or code.
FORBIDDEN = re.compile(
    r'innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|setAttribute\(.style|</script|'
    r'<!--|fetch\(|XMLHttpRequest|import\(')


def policy_hash(text):
    return 'sha256-' + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def literal(text):
    """A C++ expression; in pieces, since compilers only promise 64 KiB a literal."""
    pieces = [text[i:i + 8000] for i in range(0, len(text), 8000)]
    return '\n'.join(f'R"page({piece})page"' for piece in pieces)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--folder', required=True, type=pathlib.Path, help='src/report/html')
    parser.add_argument('--output', required=True, type=pathlib.Path, help='the C++ file to make')
    arguments = parser.parse_args()

    def read(name):
        text = (arguments.folder / name).read_text(encoding='utf-8')
        if name.endswith('.js') and (found := FORBIDDEN.search(text)):
            sys.exit(f'{name}: {found.group()!r} has no place in the page')
        return text

    known = {name + '.js' for name in SCRIPTS} | {name + '.css' for name in STYLES}
    there = {path.name for path in arguments.folder.glob('*.*s')}
    if known != there:
        sys.exit(f'the lists of scripts and styles and the folder differ: {sorted(known ^ there)}')
    style = '\n'.join(read(name + '.css') for name in STYLES)
    script = "'use strict';\n(() => {\n" + '\n'.join(read(name + '.js') for name in SCRIPTS) + '})();\n'
    page = read('page.html')
    for mark, text in [('STYLE_HASH', policy_hash(style)), ('SCRIPT_HASH', policy_hash(script)), ('STYLE_TEXT', style),
                       ('SCRIPT_TEXT', script)]:
        if page.count(mark) != 1:
            sys.exit(f'page.html: {mark} must be there once')
        page = page.replace(mark, text)
    start, end = page.split('REPORT_DATA')
    arguments.output.write_text(f'''// Made by scripts/make_html_page.py.
#include "report/html_page.h"

namespace torchmem {{

const std::string_view html_page_start =
{literal(start)};

const std::string_view html_page_end =
{literal(end)};

}}  // namespace torchmem
''', encoding='utf-8')


if __name__ == '__main__':
    main()
