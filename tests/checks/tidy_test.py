"""What clang-tidy is asked about: what was changed, once, and all of the core where everything is asked for."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

from made_tree import TreeTest

from checks import tidy
from checks.style import Missing
from checks.tree import Tree

# Complains of every file that has "bad" in it, and notes what it was asked.
PROGRAM = '''#!/bin/sh
for file; do :; done
echo "$file" >> asked
grep -q bad "$file" || exit 0
echo "$PWD/$file:1:1: error: it is bad [a-check]"
exit 1
'''
FILES = {
    '.clang-tidy': 'Checks: a\n',
    'src/run/file.cpp': '#include "run/file.h"\n',
    'src/run/file.h': '',
    'src/report/text.cpp': '#include "run/file.h"\nbad\n',
    'src/engine/main.cpp': 'bad\n',
}


class Tidy(TreeTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in {**FILES, 'bin/clang-tidy': PROGRAM, '.gitignore': '/bin/\n/build/\n/asked\n'}.items():
            self.write(name, text)
        (self.root / 'bin/clang-tidy').chmod(0o755)
        units = [{'file': str(self.root / name)} for name in FILES if name.endswith('.cpp')]
        self.write('build/compile_commands.json', json.dumps(units))
        path = mock.patch.dict(os.environ, PATH=f'{self.root / "bin"}:{os.environ["PATH"]}')
        path.start()
        self.addCleanup(path.stop)
        self.git('init', '-q')
        self.commit()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *arguments):
        subprocess.run(['git', '-C', self.root, '-c', 'user.name=a', '-c', 'user.email=a@b', *arguments], check=True)

    def commit(self):
        self.git('add', '-A')
        self.git('commit', '-q', '-m', 'a')

    def check(self, **more):
        """The complaints, and which files were looked at."""
        (self.root / 'asked').write_text('')
        found = list(tidy.check(Tree(self.root), self.root / 'build', **more))
        return found, sorted((self.root / 'asked').read_text().split())

    def test_changed_files_alone(self):
        self.write('src/engine/main.cpp', 'bad\n// more\n')
        complaint = 'src/engine/main.cpp:1:1: error: it is bad [a-check]'
        self.assertEqual(self.check(), ([complaint], ['src/engine/main.cpp']))
        self.commit()
        self.assertEqual(self.check()[1], ['src/engine/main.cpp'], 'changed by the last commit')
        self.write('docs/a.md', 'text')
        self.commit()
        self.assertEqual(self.check()[1], [])
        self.assertEqual(self.check(since='HEAD~2')[1], ['src/engine/main.cpp'])

    def test_everything_is_the_core(self):
        found, asked = self.check(everything=True)
        self.assertEqual(len(found), 1)
        self.assertEqual(asked, ['src/report/text.cpp', 'src/run/file.cpp'])

    def test_what_was_clean_is_remembered(self):
        self.check(everything=True)
        self.assertEqual(self.check(everything=True)[1], ['src/report/text.cpp'])
        self.write('src/run/file.h', 'int a;\n')
        self.assertEqual(self.check(everything=True)[1], ['src/report/text.cpp', 'src/run/file.cpp'])
        self.write('.clang-tidy', 'Checks: b\n')
        self.assertEqual(self.check(everything=True)[1], ['src/report/text.cpp', 'src/run/file.cpp'])

    def test_time_is_over(self):
        self.write('src/engine/main.cpp', 'bad\n// more\n')
        told = []
        with mock.patch.object(tidy, 'SECONDS', -1):
            self.assertEqual(self.check(say=told.append), ([], []))
        self.assertEqual(len(told), 1)

    def test_missing(self):
        (self.root / 'build/compile_commands.json').unlink()
        self.assertRaises(Missing, self.check)
        self.assertRaises(Missing, tidy.changed, Tree(self.root), 'no-such-commit')


unittest.main()
