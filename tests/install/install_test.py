"""What `cmake --install` gives: a program that runs where it was put, and a library that others can use.

python3 install_test.py --cmake CMAKE --build DIR --compiler CXX [--prefix-path LIST]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SNAPSHOT = ROOT / 'tests/data/P19.pickle'


def run(*command, code=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != code:
        raise AssertionError(f'{command} ended with {done.returncode}, not {code}\n{done.stdout}{done.stderr}')
    return done.stdout


def configure(source, build, *more):
    run(options.cmake, '-S', source, '-B', build, f'-DCMAKE_CXX_COMPILER={options.compiler}', *more)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.prefix = cls.folder / 'a place'
        run(options.cmake, '--install', options.build, '--prefix', cls.prefix)

    def use(self, source, build):
        """Builds a project that asks for the installed package."""
        configure(source, build, f'-DCMAKE_PREFIX_PATH={self.prefix};{options.prefix_path}')
        run(options.cmake, '--build', build)

    def test_example(self):
        self.use(ROOT / 'examples', self.folder / 'example')
        told = run(self.folder / 'example/peak_owners', SNAPSHOT)
        report = json.loads(run(self.prefix / 'bin/torchmem', 'inspect', SNAPSHOT, '--json'))
        (device,) = report['devices']
        self.assertIn(f'peak: {device["peak"]["allocated_bytes"]} bytes', told)
        lines = told.partition('lines\n')[2].splitlines()
        owners = [line.split('  ')[-1] for line in lines]
        self.assertEqual(owners, [owner['name'] or '(unknown)' for owner in device['peak']['by_line'][:5]])
        self.assertTrue(owners)

    def test_example_says_what_is_wrong(self):
        self.use(ROOT / 'examples', self.folder / 'example')
        run(self.folder / 'example/peak_owners', code=2)
        run(self.folder / 'example/peak_owners', ROOT / 'README.md', code=1)

    def test_every_header_stands_on_its_own(self):
        """With the package's own needs and no other, and without a folder of this checkout."""
        headers = sorted(path.name for path in (self.prefix / 'include/torchmem').glob('*'))
        self.assertEqual(headers, sorted(path.name for path in (ROOT / 'include/torchmem').glob('*.h')))
        source = self.folder / 'headers'
        source.mkdir()
        names = [f'{header.removesuffix(".h")}.cpp' for header in headers]
        for header, name in zip(headers, names):
            (source / name).write_text(f'#include <torchmem/{header}>\n')
        (source / 'CMakeLists.txt').write_text(
            'cmake_minimum_required(VERSION 3.25)\nproject(headers LANGUAGES CXX)\n'
            'find_package(torchmem 0.1 REQUIRED)\n'
            f'add_library(headers STATIC {" ".join(names)})\ntarget_link_libraries(headers PRIVATE torchmem::core)\n')
        self.use(source, self.folder / 'headers-build')

    def test_no_path_of_the_build(self):
        for path in (self.prefix / 'lib/cmake').rglob('*.cmake'):
            text = path.read_text()
            self.assertNotIn(str(ROOT), text, path)
            self.assertNotIn(str(options.build), text, path)


class Flags(unittest.TestCase):
    def test_release_flags_are_the_packager_s(self):
        with tempfile.TemporaryDirectory() as folder:
            configure(ROOT, folder, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release',
                      '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DPACKAGED', '-DTORCHMEM_WITH_TORCH=OFF', '-DTORCHMEM_TESTS=OFF',
                      f'-DCMAKE_PREFIX_PATH={options.prefix_path}')
            commands = json.loads(pathlib.Path(folder, 'compile_commands.json').read_text())
        for entry in commands:
            self.assertIn(' -O1 -DPACKAGED ', entry['command'])
            self.assertNotIn(' -O2 ', entry['command'])


parser = argparse.ArgumentParser()
parser.add_argument('--cmake', required=True)
parser.add_argument('--build', required=True, type=pathlib.Path)
parser.add_argument('--compiler', required=True)
parser.add_argument('--prefix-path', default='')
options, rest = parser.parse_known_args()
unittest.main(argv=[sys.argv[0], *rest])
