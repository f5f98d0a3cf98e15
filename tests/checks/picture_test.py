"""The picture of the folders is what the includes are."""

import unittest

from made_tree import TreeTest

from checks import picture

FILES = {
    'include/torchmem/run.h': '',
    'src/run/file.cpp': '#include "torchmem/run.h"\n',
    'src/run/file.h': '',
    'src/report/text.h': '#include "run/file.h"\n#include "torchmem/run.h"\n',
    'src/cli/main.cpp': '#include "report/text.h"\n#include "run/file.h"\n#include <string>\n',
    'CONTRIBUTING.md': '    include/torchmem/   the API\n    src/run      files\n    src/report   texts\n'
                       '    src/cli      it\n',
}


class Picture(TreeTest):
    def made(self, page, **others):
        return self.tree(**{**FILES, picture.PAGE: page, **others})

    def test_arrows_that_follow_are_left_out(self):
        text = picture.drawn(self.made(''))
        arrows = [line.strip() for line in text.splitlines() if ' --> ' in line]
        self.assertEqual(arrows, ['cli --> report', 'report --> run', 'run --> torchmem'])
        self.assertIn('| `cli` | it | `report`, `run` |', text)
        self.assertIn('| `torchmem` | the API | - |', text)

    def test_check(self):
        tree = self.made(f'# Page\n\n{picture.BEGIN}\n{picture.END}\n\nMore.\n')
        self.assertEqual(len(list(picture.check(tree))), 1)
        drawn = picture.page(tree)
        self.assertTrue(drawn.startswith('# Page\n') and drawn.endswith('\nMore.\n'))
        self.assertEqual(list(picture.check(self.made(drawn))), [])
        more = self.made(drawn, **{'src/cli/b.cpp': '#include "torchmem/run.h"\n'})
        self.assertIn('scripts/architecture draws it', '\n'.join(picture.check(more)))

    def test_no_page_and_no_place(self):
        self.assertIn('missing', '\n'.join(picture.check(self.made('# Page\n'))))
        self.assertIn('is missing', '\n'.join(picture.check(self.tree(**FILES))))

    def test_folder_that_is_not_described(self):
        tree = self.made('', **{'src/new/a.cpp': ''})
        self.assertTrue(any('src/new is not said' in each for each in picture.check(tree)))


unittest.main()
