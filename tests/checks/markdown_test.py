"""Prose is wrapped, everything else is left alone, and what is wrapped stays as it is."""

import unittest

from made_tree import TreeTest

from checks import markdown

LONG = 'word ' * 40


class Markdown(TreeTest):
    def wrapped(self, text):
        once = markdown.wrapped(text)
        self.assertEqual(markdown.wrapped(once), once)
        self.assertEqual(once.split(), text.split())
        return once

    def test_paragraph(self):
        lines = self.wrapped(LONG).splitlines()
        self.assertEqual([len(line) for line in lines], [119, 79])

    def test_short_lines_stay(self):
        text = 'One line.\nAnother line.\n\n- an item\n  of two lines\n'
        self.assertEqual(self.wrapped(text), text)

    def test_item_keeps_its_indentation(self):
        lines = self.wrapped(f'- {LONG}\n- short\n').splitlines()
        self.assertEqual([line[:3] for line in lines], ['- w', '  w', '- s'])
        lines = self.wrapped(f'1. {LONG}\n\n   {LONG}').splitlines()
        self.assertEqual([line[:4] for line in lines], ['1. w', '   w', '', '   w', '   w'])

    def test_left_alone(self):
        for text in (f'| {LONG} |', f'    {LONG}', f'# {LONG}', f'```\n{LONG}\n\n{LONG}\n```', f'<p {LONG}>',
                     f'[label]: {LONG}'):
            self.assertEqual(self.wrapped(f'Text.\n\n{text}\n'), f'Text.\n\n{text}\n')

    def test_code_after_a_list(self):
        text = f'- item\n\nText.\n\n    {LONG}'
        self.assertEqual(self.wrapped(text), text)

    def test_code_span_in_one_line(self):
        command = '`torchmem profile model.pt --input f32:8`'
        self.assertIn(command, self.wrapped('word ' * 20 + command + ' word' * 20))

    def test_no_marker_at_the_start_of_a_line(self):
        for marker in ('-', '+', '1.', '#', '> more', '|'):
            for width in range(15, 30):
                for line in self.wrapped('word ' * width + marker + ' word' * 20).splitlines():
                    self.assertFalse(line.startswith(marker), line)

    def test_hard_line_ends_stay(self):
        self.assertIn('end  \nnext', self.wrapped(f'{LONG}end  \nnext'))

    def test_one_long_word(self):
        text = 'https://example.org/' + 'x' * 200
        self.assertEqual(self.wrapped(text), text)

    def test_check(self):
        tree = self.tree(**{'a.md': f'Text.\n\n{LONG}\n', 'b.md': 'Text.\n', 'c.txt': LONG})
        (complaint,) = markdown.check(tree)
        self.assertTrue(complaint.startswith('a.md:3: '), complaint)


unittest.main()
