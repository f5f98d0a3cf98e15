"""Trees of a few files for the tests of the checks."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'scripts'))
from checks.tree import Tree  # noqa: E402


class TreeTest(unittest.TestCase):
    def tree(self, **files):
        """A tree of {name: text}; names with slashes are given as a dictionary: tree(**{'a/b': ''})."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in files.items():
            path = pathlib.Path(folder.name, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding='utf-8')
        return Tree(folder.name, files)
