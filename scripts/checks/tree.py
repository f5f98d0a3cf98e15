"""The files of a checkout, as the checks see them."""

import functools
import pathlib
import subprocess

CODE = {'.c', '.cpp', '.h', '.py', '.js', '.css', '.cmake', '.bash'}
C_FAMILY = {'.c', '.cpp', '.h'}


class Tree:
    def __init__(self, root, names=None):
        """`names`, relative to the root, are for tests; without them git is asked what belongs to the checkout."""
        self.root = pathlib.Path(root)
        self.names = sorted(self.listed() if names is None else names)

    def listed(self):
        asked = ['git', '-C', str(self.root), 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
        names = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split('\0')
        return {name for name in names if name and (self.root / name).is_file()}

    @functools.cache
    def text(self, name):
        return (self.root / name).read_text(encoding='utf-8')

    def lines(self, name):
        return self.text(name).splitlines()

    def exists(self, name):
        return (self.root / name).exists()

    def is_script(self, name):
        """A program without an ending, known by its first line."""
        if pathlib.PurePath(name).suffix or not name.startswith(('scripts/', '.ci/')):
            return False
        with open(self.root / name, 'rb') as file:
            return file.read(2) == b'#!'

    def code(self, *folders):
        """Everything that people write in a programming language, below these folders or anywhere."""
        for name in self.below(*folders):
            path = pathlib.PurePath(name)
            if path.suffix in CODE or path.name == 'CMakeLists.txt' or self.is_script(name):
                yield name

    def c_family(self, *folders):
        return (name for name in self.below(*folders) if pathlib.PurePath(name).suffix in C_FAMILY)

    def markdown(self):
        return (name for name in self.names if name.endswith('.md'))

    def below(self, *folders):
        starts = tuple(folder + '/' for folder in folders)
        return (name for name in self.names if not starts or name.startswith(starts))
