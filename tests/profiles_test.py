#!/usr/bin/env python3
"""The profiles of the cards are what scripts/make_profiles.py makes of src/vgpu/cards.json, and its --check finds what
is not.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROFILES = ROOT / 'src' / 'vgpu' / 'profiles'


def make_profiles(*arguments):
    return subprocess.run([sys.executable, ROOT / 'scripts' / 'make_profiles.py', *arguments], capture_output=True,
                          text=True)


class Profiles(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for file in PROFILES.glob('*.json'):
            shutil.copy(file, self.folder)

    def assert_found(self, *lines):
        ended = make_profiles('--check', '--profiles', self.folder)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual(ended.stdout.splitlines(), list(lines))

    def change(self, name, change):
        file = self.folder / name
        profile = json.loads(file.read_text(encoding='utf-8'))
        change(profile)
        file.write_text(json.dumps(profile), encoding='utf-8')

    def test_profiles_are_those_of_the_table(self):
        ended = make_profiles('--check')
        self.assertEqual((ended.returncode, ended.stdout), (0, ''), ended.stderr)

    def test_a_changed_number_is_named(self):
        size = json.loads((self.folder / 't4.json').read_text(encoding='utf-8'))['properties']['l2CacheSize']
        self.change('t4.json', lambda profile: profile['properties'].update(l2CacheSize=1))
        self.assert_found(f't4.json: properties.l2CacheSize is 1; the table gives {size}')

    def test_a_missing_field_is_named(self):
        self.change('a10.json', lambda profile: profile.pop('kernels'))
        self.assert_found('a10.json: kernels is missing; the table gives {}')

    def test_a_field_too_many_is_named(self):
        self.change('l4.json', lambda profile: profile['memory'].update(spare=3))
        self.assert_found('l4.json: memory.spare is 3; the table has no such field')

    def test_another_layout_is_named(self):
        self.change('b200.json', lambda profile: None)
        self.assert_found('b200.json: has the same numbers, written otherwise')

    def test_missing_and_unknown_files_are_named(self):
        (self.folder / 'a30.json').rename(self.folder / 'mine.json')
        self.assert_found('a30.json: is missing', 'mine.json: is not in the table')

    def test_one_card_is_written_alone(self):
        for name in ('t4.json', 'l4.json'):
            (self.folder / name).write_text('{}\n', encoding='utf-8')
        self.assertEqual(make_profiles('--profiles', self.folder, 't4').returncode, 0)
        self.assertEqual((self.folder / 't4.json').read_text(encoding='utf-8'),
                         (PROFILES / 't4.json').read_text(encoding='utf-8'))
        self.assertEqual((self.folder / 'l4.json').read_text(encoding='utf-8'), '{}\n')

    def test_every_number_has_a_source(self):
        for file in PROFILES.glob('*.json'):
            profile = json.loads(file.read_text(encoding='utf-8'))
            if profile['verified']:
                continue
            with self.subTest(file.name):
                for source in profile['sources']:
                    self.assertTrue(source['source'].strip() and source['fields'])
                    self.assertTrue(source.get('address', 'https://').startswith('https://'))
                # PyTorch reads a number as a property or as an attribute: both must say the same.
                properties, attributes = profile['properties'], profile['attributes']
                for name, number in {'multiProcessorCount': '16', 'l2CacheSize': '38',
                                     'maxThreadsPerMultiProcessor': '39',
                                     'major': '75', 'minor': '76', 'sharedMemPerMultiprocessor': '81',
                                     'sharedMemPerBlockOptin': '97'}.items():
                    self.assertEqual(attributes[number], properties[name], name)
                # The virtual GPU takes it from total_bytes.
                self.assertNotIn('totalGlobalMem', properties)
                # An estimate that is not scaled down with the card would not leave a small one much.
                self.assertLess(profile['memory']['context_bytes'], profile['total_bytes'] / 16)


if __name__ == '__main__':
    unittest.main()
