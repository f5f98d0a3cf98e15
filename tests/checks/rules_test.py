"""The checks find what they are there for, and nothing else."""

import unittest

from made_tree import TreeTest

from checks import includes, lines, links, measures, places

FILE = 'src/report/text.cpp'


class Lines(TreeTest):
    def test_wide_line(self):
        tree = self.tree(**{FILE: 'int a;\n' + 'x' * 121 + '\n', 'docs/a.md': 'x' * 200, 'scripts/run': '#!/bin/sh\n',
                            'tests/a.test': 'x' * 200, 'CMakeLists.txt': 'x' * 120})
        self.assertEqual(list(lines.check(tree)), [f'{FILE}:2: a line of 121 columns; at most 120'])

    def test_program_without_an_ending(self):
        tree = self.tree(**{'scripts/run': '#!/bin/sh\n' + 'x' * 130, 'LICENSE': 'x' * 130})
        self.assertEqual(len(list(lines.check(tree))), 1)


class Links(TreeTest):
    def complaints(self, text, **others):
        return [each.split(': ', 1)[1] for each in links.check(self.tree(**{'docs/a.md': text, **others}))]

    def test_good_ones(self):
        text = ('# Of `a_b`: what?\n\n[up](../README.md) [here](#of-a_b-what)\n[there](b.md#twice-1)\n'
                '[web](https://a.org/x) [label][1] `[no](link)`\n\n    [code](nowhere)\n\n'
                '```\n[code](nowhere)\n```\n\n[1]: b.md\n')
        self.assertEqual(self.complaints(text, **{'README.md': '', 'docs/b.md': '# Twice\n\n## Twice\n'}), [])

    def test_bad_ones(self):
        for text, word in (('[a](b.md)', 'does not exist'), ('[a](#b)', 'no heading'), ('[a][b]', 'label'),
                           ('[a](../../b)', 'does not exist'), ('[a](https://)', 'no address'),
                           ('<img src="b.png">', 'does not exist'), ('[b]: c.md', 'does not exist')):
            found = self.complaints(f'# Title\n\n{text}\n')
            self.assertEqual(len(found), 1, text)
            self.assertIn(word, found[0])


class Places(TreeTest):
    def test_command_line_tests(self):
        tree = self.tree(**{'tests/cli/gate/a.test': '--- fake-engine loaded\n', 'tests/cli/streams/loaded.stream': '',
                            'tests/cli/streams/other.stream': '', 'tests/cli/fit_b.test': '--- fake-engine\n'})
        self.assertEqual([each.split(':')[0] for each in places.check(tree)],
                         ['tests/cli/fit_b.test', 'tests/cli/streams/other.stream'])


class Includes(TreeTest):
    def complaints(self, name, *included):
        text = ''.join(f'#include {each}\n' for each in included)
        made = {'src/run/file.h': '', 'src/report/text.h': '', 'src/launch/runner.h': '', 'src/capture/saves.py': '',
                'src/vgpu/device/core.h': '', 'src/cli/commands.h': '', 'include/torchmem/run.h': 'nlohmann::json a;\n'}
        return list(includes.check(self.tree(**{**made, name: text})))

    def test_allowed(self):
        self.assertEqual(self.complaints('src/report/a.cpp', '"run/file.h"', '"torchmem/run.h"', '<string>'), [])
        self.assertEqual(self.complaints('src/cli/a.cpp', '"launch/runner.h"', '<CLI/CLI.hpp>'), [])
        self.assertEqual(self.complaints('src/capture/a.cpp', '"capture/saves_py.h"', '<torch/types.h>'), [])
        self.assertEqual(self.complaints('src/vgpu/cudart/a.cpp', '"core.h"', '<cuda_runtime_api.h>'), [])

    def test_json_in_the_public_api(self):
        for name, text, count in (('run', '#include <nlohmann/json.hpp>\n', 0), ('run', '', 1), ('peak', '', 0),
                                  ('peak', '#include <nlohmann/json.hpp>\n', 1)):
            found = list(includes.check(self.tree(**{f'include/torchmem/{name}.h': text})))
            self.assertEqual(len(found), count, found)

    def test_refused(self):
        for name, header, word in (('src/run/a.cpp', '"report/text.h"', 'includes a header of report'),
                                   ('src/study/a.cpp', '"cli/commands.h"', 'includes a header of cli'),
                                   ('src/launch/a.cpp', '"cli/commands.h"', 'includes a header of cli'),
                                   ('include/torchmem/a.h', '"run/file.h"', 'includes a header of run'),
                                   ('src/request/a.cpp', '<CLI/CLI.hpp>', 'included by cli alone'),
                                   ('src/report/a.cpp', '<torch/types.h>', 'is included by'),
                                   ('src/report/a.cpp', '"run/gone.h"', 'no header "run/gone.h"'),
                                   ('src/new/a.cpp', '<string>', 'is not said')):
            found = self.complaints(name, header)
            self.assertEqual(len(found), 1, found)
            self.assertIn(word, found[0])


class Measures(TreeTest):
    def function(self, count, head='int f(int a) {'):
        return head + '\n' + '  a();\n' * (count - 2) + '}\n'

    def lengths(self, text):
        return [(name, length) for name, _, length in measures.functions(text.splitlines())]

    def test_functions(self):
        text = ('namespace a {\n\n' + self.function(5) + '\nclass B : public C {\n  int g() {\n    return 1;\n  }\n'
                '  int h_ = 0;\n};\n\nconst std::map<int, int> kTable = {\n    {1, 2},\n};\n\n'
                'std::vector<int> B::many(int one,\n                         int two) const {\n  return {};\n}\n'
                'enum class D {\n  e,\n};\n}  // namespace a\n')
        self.assertEqual(self.lengths(text), [('f', 5), ('g', 3), ('B::many', 4)])

    def test_templates(self):
        text = ('template <class T>\nstd::vector<T> f(T a) {\n  if (a) {\n  }\n}\n\n'
                'template <class T>\nstruct A {\n  void g() {\n    h();\n  }\n};\n')
        self.assertEqual(self.lengths(text), [('f', 5), ('g', 3)])

    def test_blocks_are_no_functions(self):
        self.assertEqual(self.lengths('void f() {\n  if (a) {\n    b();\n  }\n  for (;;) {\n  }\n}\n'), [('f', 7)])

    def complaints(self, listed, **files):
        return list(measures.check(self.tree(**{measures.LIST: f'# text\n{listed}', **files})))

    def test_bounds(self):
        self.assertEqual(self.complaints('', **{FILE: self.function(60)}), [])
        self.assertEqual(self.complaints('', **{FILE: self.function(61)}), [f'function {FILE} f: 61 lines; at most 60'])
        self.assertEqual(self.complaints('', **{'src/a.js': 'a\n' * 450}), [])
        self.assertEqual(len(self.complaints('', **{'src/a.js': 'a\n' * 451})), 1)
        many = {f'src/cli/{number}.cpp': 'a\n' * 400 for number in range(8)}
        self.assertEqual(self.complaints('', **many), ['folder src/cli: 3200 lines; at most 3000'])

    def test_listed_may_only_shrink(self):
        what = f'function {FILE} f'
        self.assertEqual(self.complaints(f'{what} 70\n', **{FILE: self.function(70)}), [])
        for length in (71, 69, 60):
            self.assertEqual(len(self.complaints(f'{what} 70\n', **{FILE: self.function(length)})), 1, length)

    def test_shrink(self):
        files = {FILE: self.function(65), 'src/run/a.cpp': self.function(90), 'src/run/b.cpp': self.function(20)}
        listed = ''.join(f'function {name} f 80\n' for name in files)
        tree = self.tree(**{measures.LIST: '# text\n' + listed, **files})
        measures.shrink(tree)
        self.assertEqual((tree.root / measures.LIST).read_text().splitlines(),
                         ['# text', f'function {FILE} f 65', 'function src/run/a.cpp f 80'])


unittest.main()
