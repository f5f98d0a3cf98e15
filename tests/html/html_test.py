#!/usr/bin/env python3
"""The HTML report in a real browser. Skipped (77) where there is no Chromium.

--shots DIR keeps pictures of what the tests saw.
"""
import argparse
import json
import os
import pathlib
import pickle
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import made_runs  # noqa: E402
from chromium import Browser, Page, find_chromium  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77  # CTest's SKIP_RETURN_CODE
# What is asked of a machine of two cores. A busy neighbour only ever makes it slower: of the openings the quickest
# counts, of the zoom steps the median.
FIRST_PICTURE_MS = 1500
ZOOM_STEP_MS = 100

options = None


def profile_made(folder, run, extra='', name='model', exit_code=0):
    """The page of a made-up run, through the command line with an engine that plays it."""
    records = folder / f'{name}.records'
    records.write_bytes((run.text() if hasattr(run, 'text') else run).encode('utf-8', 'surrogateescape') +
                        extra.encode())
    page = folder / f'{name}.html'
    environment = {**os.environ, 'TORCHMEM_ENGINE': str(ROOT / 'tests/cli/fake_engine.py'),
                   'FAKE_ENGINE_RECORDS': str(records)}
    done = subprocess.run([options.torchmem, 'profile', str(ROOT / 'tests/data/P01.pt'), '--input', 'f32:2x3',
                           '--device', 'virtual:h200',
                           '--html', str(page), '--save', str(folder / f'{name}.pickle')],
                          env=environment, capture_output=True, text=True)
    if done.returncode != exit_code:
        raise AssertionError(f'exit code {done.returncode}\n{done.stdout}{done.stderr}')
    return page


def inspect_page(file):
    """The page of a run file or snapshot, beside it."""
    page = file.with_name(file.stem + '-inspect.html')
    subprocess.run([options.torchmem, 'inspect', file, '--html', page], check=True, stdout=subprocess.DEVNULL)
    return page


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='torchmem-html-'))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.browser = Browser(find_chromium())
        cls.addClassCleanup(cls.browser.close)

    def open(self, path, **more):
        page = Page(self.browser, path, **more)
        self.addCleanup(page.close)
        self.addCleanup(self.assert_quiet, page)
        page.settle()
        return page

    def assert_quiet(self, page):
        self.assertEqual(page.complaints(), [])
        self.assertEqual(page.requests(), [])

    def shot(self, page, name, whole=True):
        if options.shots:
            options.shots.mkdir(parents=True, exist_ok=True)
            page.screenshot(options.shots / f'{name}.png', whole)

    def data(self, page, selector, name):
        return page.evaluate(f'document.querySelector({json.dumps(selector)}).dataset.{name}')

    def text(self, page, selector):
        return page.evaluate(f'document.querySelector({json.dumps(selector)}).innerText')


class Training(ReportTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.run_made = made_runs.training(layers=24, iterations=3)
        cls.file = profile_made(cls.folder, cls.run_made)

    def setUp(self):
        self.page = self.open(self.file)

    def plot(self):
        """The timeline's area of data in the window: x, y, width, height (timeline.js's margins)."""
        x, y, width, height = self.page.box('#timeline')
        return x + 64, y + 32, width - 74, height - 52

    def moment(self):
        return int(self.data(self.page, 'body', 'moment'))

    def view(self):
        return float(self.data(self.page, '#timeline', 'from')), float(self.data(self.page, '#timeline', 'to'))

    def test_opens_at_the_peak(self):
        peak = max(self.run_made.allocated)
        self.assertEqual(self.moment(), self.run_made.allocated.index(peak))
        self.assertEqual(int(self.data(self.page, 'body', 'allocated')), peak)
        self.assertEqual(int(self.data(self.page, '.tile', 'peak')), peak)
        head = self.text(self.page, '#head-text')
        for words in ('P01.pt', 'NVIDIA H200', '2.11.0', 'adamw'):
            self.assertIn(words, head)
        self.shot(self.page, 'made-training-light')

    def legend(self, page=None):
        rows = (page or self.page).evaluate(
            "Object.fromEntries([...document.querySelectorAll('#legend tr[data-group]')].map("
            "(row) => [row.querySelector('.legend-name').innerText, Number(row.dataset.bytes)]))")
        return {name.replace(' ', '_'): size for name, size in rows.items()}

    def totals(self):
        return self.page.evaluate("Object.fromEntries([...document.querySelectorAll('#legend tr[data-total]')]"
                                  '.map((row) => [row.dataset.total, Number(row.dataset.bytes)]))')  # fmt: skip

    def test_click_chooses_a_moment_and_its_sums_are_exact(self):
        x, y, width, height = self.plot()
        for share in (0.02, 0.3, 0.55, 0.97):
            self.page.click(x + share * width, y + 0.9 * height)
            moment = self.moment()
            expected = self.run_made.allocated[moment]
            self.assertAlmostEqual(moment / self.run_made.events, share, delta=0.01)
            self.assertEqual(int(self.data(self.page, 'body', 'allocated')), expected)
            self.assertEqual(sum(self.legend().values()), expected)
            self.assertEqual(self.totals()['allocated'], expected)
            self.assertEqual(int(self.data(self.page, '#treemap', 'bytes')), expected)
            self.assertEqual(int(self.data(self.page, '#table', 'bytes')), expected)
            self.assertEqual(int(self.data(self.page, '#segments', 'active')), expected)

    def test_end_by_category(self):
        self.page.evaluate("(() => { const choice = document.getElementById('moment-choice');"
                           "choice.value = [...choice.options].find((option) => option.text === 'end').value;"
                           "choice.onchange(); })()")
        self.page.settle()
        expected = {}
        for size, _, category in self.run_made.live.values():
            expected[category] = expected.get(category, 0) + size
        shown = {name: size for name, size in self.legend().items() if size}
        self.assertEqual(shown, expected)
        rounding = sum(size - requested for size, requested, _ in self.run_made.live.values())
        self.assertEqual(self.totals()['of it rounding'], rounding)
        self.assertEqual(self.totals()['reserved'], self.run_made.reserved[-1])

    def test_hover_shows_the_block_and_the_owners(self):
        x, y, width, height = self.plot()
        self.page.move(x + 0.8 * width, y + 0.97 * height)
        tip = self.text(self.page, '#tip')
        self.assertIn('parameters', tip)
        self.assertRegex(tip, r'blocks\.\d\.layer\d\.weight')
        self.assertIn('Largest owners', tip)
        # The parameters are at the bottom, in the order of their birth.
        sizes = [size for size, _, category in self.run_made.live.values() if category == 'parameters']
        high = float(self.data(self.page, '#timeline', 'high'))
        for number in (3, 10, 20):
            middle = sum(sizes[:number]) + sizes[number] / 2
            self.page.move(x + 0.8 * width, y + height * (1 - middle / high))
            self.assertEqual(self.data(self.page, '#timeline', 'hovered'), str(number))
        self.shot(self.page, 'made-training-hover', whole=False)
        self.page.move(x + 0.8 * width, y - 8)
        self.assertIn('events', self.text(self.page, '#tip'))

    def test_wheel_drag_pan_and_reset(self):
        everything = (0, self.run_made.events + 1)
        self.assertEqual(self.view(), everything)
        x, y, width, height = self.plot()
        self.page.mouse('mouseWheel', x + width / 2, y + 100, deltaX=0, deltaY=-400)
        self.page.settle()
        self.page.settle()
        first, last = self.view()
        self.assertTrue(0 < first < last < everything[1], (first, last))
        self.assertAlmostEqual((first + last) / 2, everything[1] / 2, delta=everything[1] * 0.01)
        self.page.drag(x + 0.25 * width, y + 100, x + 0.5 * width, y + 120)
        inner = self.view()
        self.assertAlmostEqual(inner[0], first + 0.25 * (last - first), delta=3)
        self.assertAlmostEqual(inner[1], first + 0.5 * (last - first), delta=3)
        self.shot(self.page, 'made-training-zoomed', whole=False)
        self.page.evaluate("document.getElementById('pan-right').click()")
        self.page.settle()
        moved = self.view()
        self.assertGreater(moved[0], inner[0])
        self.assertAlmostEqual(moved[1] - moved[0], inner[1] - inner[0], places=6)
        self.page.click(x + width / 2, y + 100, count=2)
        self.page.settle()
        self.assertEqual(self.view(), everything)

    def test_overview_moves_the_view(self):
        self.page.evaluate("for (let i = 0; i < 3; ++i) document.getElementById('zoom-in').click()")
        self.page.settle()
        x, y, width, height = self.page.box('#overview')
        self.page.drag(x + width / 2, y + height / 2, x + width - 12, y + height / 2)
        self.assertEqual(self.view()[1], self.run_made.events + 1)

    def test_treemap_goes_down_and_up(self):
        whole = int(self.data(self.page, '#treemap', 'bytes'))
        x, y, width, height = self.page.box('#treemap')
        seen = ['']
        for _ in range(6):
            self.page.click(x + 0.25 * width, y + 0.4 * height)
            node = self.data(self.page, '#treemap', 'node')
            if node == seen[-1]:
                break
            self.assertLess(int(self.data(self.page, '#treemap', 'bytes')), whole)
            seen.append(node)
        self.assertEqual(seen[1], 'blocks')
        self.assertGreaterEqual(len(seen), 4, seen)
        self.assertFalse(self.page.evaluate("document.getElementById('details').hidden"))  # ended at a block
        self.page.evaluate("document.querySelector('#crumbs button').click()")
        self.assertEqual(int(self.data(self.page, '#treemap', 'bytes')), whole)
        for kind in ('op', 'line', 'category'):
            self.page.evaluate(f"document.querySelector('#owner-tabs [data-kind={kind}]').click()")
            self.page.settle()
            self.assertEqual(int(self.data(self.page, '#treemap', 'bytes')), whole)
            self.shot(self.page, f'made-treemap-{kind}')

    def names(self):
        return self.page.evaluate(
            "[...document.querySelectorAll('.table-row .cell-name')].map((cell) => cell.innerText)")

    def filter(self, text):
        self.page.evaluate(f"(() => {{ const box = document.getElementById('filter'); box.value = {json.dumps(text)};"
                           "box.dispatchEvent(new Event('input')); })()")  # fmt: skip
        self.page.settle()

    def test_table_filters_and_sorts(self):
        every = int(self.data(self.page, '#table', 'rows'))
        self.filter('exp_avg_sq blocks.1')
        self.assertEqual(int(self.data(self.page, '#table', 'rows')), 8)
        self.assertTrue(all(name.startswith('exp_avg_sq of blocks.1.') for name in self.names()))
        self.page.evaluate("document.querySelector('.table-head [data-column=name]').click()")
        self.assertEqual(self.names(), sorted(self.names()))
        self.page.evaluate("document.querySelector('.table-head [data-column=name]').click()")
        self.assertEqual(self.names(), sorted(self.names(), reverse=True))
        self.page.evaluate("document.querySelector('.table-head [data-column=bytes]').click()")
        shown = self.page.evaluate(
            "[...document.querySelectorAll('.table-row .cell-bytes')].map((cell) => cell.innerText)")
        sizes = [float(text.split()[0]) * (1024 if 'MiB' in text else 1) for text in shown]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.filter('nothing is called so')
        self.assertEqual(int(self.data(self.page, '#table', 'rows')), 0)
        self.filter('')
        self.assertEqual(int(self.data(self.page, '#table', 'rows')), every)
        self.page.evaluate("document.getElementById('alive-only').click()")
        allocations = sum(line.startswith('E alloc ') for line in self.run_made.records)
        self.assertEqual(int(self.data(self.page, '#table', 'rows')), allocations)

    def test_a_block_chosen_in_the_table_is_explained(self):
        self.page.evaluate("document.querySelector('.table-row').click()")
        self.page.settle()
        details = self.text(self.page, '#details')
        for words in ('lives', 'address', '0x7f', 'innermost first', 'aten::'):
            self.assertIn(words, details)
        self.shot(self.page, 'made-details', whole=False)

    def test_colours_by_module(self):
        total = sum(self.legend().values())
        self.page.evaluate(
            "(() => { const choice = document.getElementById('group-choice'); choice.value = 'module';"
            "choice.onchange(); })()")
        self.page.settle()
        self.assertEqual(sum(self.legend().values()), total)
        self.assertEqual([name for name in self.legend() if name.startswith('blocks.')],
                         ['blocks.2', 'blocks.1', 'blocks.0'])
        self.shot(self.page, 'made-by-module')

    def test_dark_and_light(self):
        ground = "getComputedStyle(document.body).backgroundColor"
        light = self.page.evaluate(ground)
        self.page.evaluate("document.getElementById('theme').click()")
        dark = self.page.evaluate(ground)
        self.assertNotEqual(light, dark)
        self.page.settle()
        self.shot(self.page, 'made-training-dark')
        other = self.open(self.file, scheme='dark')
        self.assertEqual(other.evaluate(ground), dark)
        other.emulate('light')
        other.settle()
        self.assertEqual(other.evaluate(ground), light)

    def test_narrow_window(self):
        page = self.open(self.file, width=420, height=900)
        self.assertLessEqual(page.evaluate('document.documentElement.scrollWidth'), 420)
        self.shot(page, 'made-narrow')

    def test_saved_run_gives_the_same_timeline(self):
        again = self.open(inspect_page(self.file.with_suffix('.pickle')))
        for name in ('moment', 'allocated'):
            self.assertEqual(self.data(again, 'body', name), self.data(self.page, 'body', name))
        self.assertEqual(self.legend(again), self.legend())


class Large(ReportTest):
    def test_200000_events(self):
        run = made_runs.training(layers=160, iterations=3, least_events=200_000)
        self.assertGreaterEqual(run.events, 200_000)
        file = profile_made(self.folder, run)
        size = file.stat().st_size
        self.assertLess(size, 6 << 20)
        firsts = []
        for _ in range(5):
            page = self.open(file)
            firsts.append(page.evaluate("performance.getEntriesByName('first picture')[0].startTime"))
        self.shot(page, 'made-200000')
        x, y, width, height = page.box('#timeline')
        # A column of pixels shows the most of its some 200 moments.
        for column in (5, 333, 600, 801):
            page.click(x + 64 + column + 0.5, y + 300)
            moment = int(self.data(page, 'body', 'moment'))
            first, last = (int(edge * (run.events + 1) / (width - 74)) for edge in (column, column + 1))
            self.assertEqual(run.allocated[moment], max(run.allocated[first:last + 1]))
            self.assertEqual(int(self.data(page, 'body', 'allocated')), run.allocated[moment])
        changes = [moment for moment in range(1, run.events) if run.reserved[moment] != run.reserved[moment - 1]]
        self.assertGreater(len(changes), 1)
        for moment in changes + [change - 1 for change in changes]:
            page.evaluate("(() => { const choice = document.getElementById('moment-choice');"
                          f"choice.append(new Option('', {moment})); choice.value = {moment};"
                          "choice.onchange(); })()")
            self.assertEqual(int(self.data(page, '#segments', 'reserved')), run.reserved[moment])
        page.evaluate(
            "(() => { const choice = document.getElementById('moment-choice'); choice.selectedIndex = 1;"
            "choice.onchange(); })()")
        page.evaluate("""(() => {
          window.steps = [];
          document.getElementById('timeline').addEventListener('wheel', () => {
            const start = performance.now();
            requestAnimationFrame(() => requestAnimationFrame(() => window.steps.push(performance.now() - start)));
          }, {capture: true});
        })()""")
        for step in range(16):
            page.mouse('mouseWheel', x + 0.6 * width, y + 150, deltaX=0, deltaY=-200 if step < 12 else 200)
            page.wait(f'window.steps.length > {step}')
        steps = page.evaluate('window.steps')
        self.shot(page, 'made-200000-zoomed')
        hovers = []
        for step in range(8):
            start = page.evaluate('performance.now()')
            page.move(x + 100 + 20 * step, y + 250)
            hovers.append(page.evaluate('performance.now()') - start)
        print(f'{run.events} events, page of {size / 1e6:.2f} MB: '
              f'first picture {", ".join(f"{t:.0f}" for t in firsts)} ms, '
              f'zoom step median {statistics.median(steps):.0f}, most {max(steps):.0f} ms, '
              f'hover median {statistics.median(hovers):.0f} ms')
        self.assertLess(min(firsts), FIRST_PICTURE_MS)
        self.assertLess(statistics.median(steps), ZOOM_STEP_MS)
        self.assertEqual(int(self.data(page, 'body', 'allocated')), max(run.allocated))


class Growing(ReportTest):
    def test_growth_is_said(self):
        run = made_runs.MadeRun(made_runs.FACTS)
        run.alloc(8 << 20, 'parameters', run.stack('aten::to', 'fc (Linear)', ('model.py', 3)))
        run.phase('load')
        for iteration in range(4):
            run.alloc(3 << 20, None, run.stack('aten::clone', None, ('train.py', 44)))
            run.phase('forward', iteration)
        page = self.open(profile_made(self.folder, run))
        messages = self.text(page, '#messages')
        self.assertIn('leaves 3.00 MiB behind, most of it made in forward: train.py:44 3.00 MiB', messages)
        self.shot(page, 'growth')


HOSTILE = ['</script><script>window.hacked = 1</script>', '<!--<script>', '"><img src=x onerror="window.hacked = 1">',
           "'; window.hacked = 1; '",
           '\u202egnp.exe', '\x00\x07\x1b[31m', '{{7*7}}${7*7}', '&lt;b&gt;', ']]>', '\u2028\u2029',
           '__proto__', 'constructor']


class Odd(ReportTest):
    def test_hostile_names(self):
        run = made_runs.MadeRun({**made_runs.FACTS, 'model': {'path': HOSTILE[0]}})
        for name in HOSTILE:
            stack = run.stack(name, f'{name} ({name})', (name, 3))
            run.alloc(10000, 'activations', stack, run.tensor(name, name, [1]))
        run.phase(HOSTILE[0], 0)
        extra = 'X ' + json.dumps({'kind': 'model_failed', 'message': HOSTILE[2], 'phase': HOSTILE[0],
                                   'iteration': 0}) + '\n'
        extra += 'V ' + json.dumps({'kind': 'assumed_value', 'name': HOSTILE[2], 'op': HOSTILE[0]}) + '\n'
        page = self.open(profile_made(self.folder, run, extra, exit_code=2))
        self.assertEqual(int(self.data(page, 'body', 'allocated')), run.allocated[-1])
        self.assertEqual(page.evaluate("document.querySelectorAll('script').length"), 2)
        self.assertEqual(page.evaluate("document.querySelectorAll('img').length"), 0)
        names = page.evaluate("[...document.querySelectorAll('.table-row .cell-name')].map((cell) => cell.textContent)")
        self.assertEqual(sorted(names), sorted(HOSTILE))
        self.assertIn(HOSTILE[2], self.text(page, '#messages'))
        x, y, width, height = page.box('#timeline')
        page.move(x + width - 30, y + height - 40)
        for kind in ('op', 'module', 'line', 'category'):
            page.evaluate(f"document.querySelector('#owner-tabs [data-kind={kind}]').click()")
            page.settle()
        page.evaluate("document.querySelector('.table-row').click()")
        self.assertIsNone(page.evaluate('window.hacked'))
        self.shot(page, 'hostile')

    def test_decided_by_an_assumed_value(self):
        run = made_runs.MadeRun(made_runs.FACTS)
        run.alloc(4096, 'activations', run.stack('aten::relu', 'm (M)', ('model.py', 1)))
        read = {'kind': 'assumed_value', 'name': 'aten::item', 'op': 'aten::item', 'line': 'model.py:9',
                'taken_for': HOSTILE[2]}
        extra = 'V ' + json.dumps(read) + '\n'
        messages = self.text(self.open(profile_made(self.folder, run, extra)), '#messages')
        self.assertNotIn('may be wrong', messages)
        self.assertNotIn('decides', messages)
        page = self.open(profile_made(self.folder, run,
                                      extra + 'V ' + json.dumps({**read, 'decides': 'branch'}) + '\n'))
        messages = self.text(page, '#messages')
        self.assertIn('The numbers may be wrong: aten::item at model.py:9 read a value', messages)
        self.assertIn('a branch came of it', messages)
        self.assertIn('taken for', messages)
        self.assertIn('decides', messages)
        self.assertIn(HOSTILE[2], messages)
        self.assertIsNone(page.evaluate('window.hacked'))
        self.shot(page, 'decided')

    def test_names_that_are_no_utf_8(self):
        run = made_runs.MadeRun(made_runs.FACTS)
        run.alloc(4096, 'activations', run.stack('NAME', 'm (M)', ('model.py', 1)))
        records = run.text().encode().replace(b'NAME', b'aten::\\ud800\\udc00caf\xc3\xa9')
        file = profile_made(self.folder, records.decode('utf-8', 'surrogateescape'))
        file.read_text(encoding='utf-8')
        page = self.open(file)
        self.assertEqual(int(self.data(page, 'body', 'allocated')), 4096)

    def test_nothing_happened(self):
        page = self.open(profile_made(self.folder, made_runs.MadeRun(made_runs.FACTS)))
        self.assertEqual(self.data(page, 'body', 'allocated'), '0')
        self.assertIn('Nothing was allocated', self.text(page, '#messages'))
        self.assertIn('none at this moment', self.text(page, '#segments-text'))
        x, y, width, height = page.box('#timeline')
        page.move(x + width / 2, y + height / 2)
        page.click(x + width / 2, y + height / 2)
        page.mouse('mouseWheel', x + width / 2, y + height / 2, deltaX=0, deltaY=-300)
        page.settle()
        self.shot(page, 'empty')

    def test_out_of_memory(self):
        run = made_runs.MadeRun(made_runs.FACTS)
        run.alloc(100 << 20, 'parameters', run.stack('aten::to', 'fc (Linear)', ('model.py', 3)))
        run.phase('load')
        run.alloc(150 << 20, 'activations', run.stack('aten::linear', 'fc (Linear)', ('model.py', 9)))
        run.event('oom', 1 << 20, 500 << 20, run.stack('aten::linear', 'fc (Linear)', ('model.py', 9)))
        extra = 'X ' + json.dumps({'kind': 'out_of_memory', 'message': 'Tried to allocate 500.00 MiB.',
                                   'phase': 'forward', 'iteration': 0}) + '\n'
        page = self.open(profile_made(self.folder, run, extra, exit_code=1))
        messages = self.text(page, '#messages')
        self.assertIn('Out of memory in forward of iteration 0', messages)
        self.assertIn('Tried to allocate 500.00 MiB.', messages)
        self.assertEqual(int(self.data(page, 'body', 'allocated')), 250 << 20)
        self.shot(page, 'out-of-memory')

    def out_of_memory(self, run):
        run.event('oom', 1 << 20, 500 << 20, run.stack('aten::linear', 'fc (Linear)', ('model.py', 9)))

    def moments(self, page):
        return page.evaluate(
            "[...document.querySelectorAll('#moment-choice option')].map((option) => option.textContent)")

    def test_teardown_is_not_forward(self):
        run = made_runs.MadeRun(made_runs.FACTS)
        stack = run.stack('aten::linear', 'fc (Linear)', ('model.py', 9))
        run.alloc(100 << 20, 'parameters', stack)
        run.phase('load')
        blocks = [run.alloc(20 << 20, 'activations', stack) for _ in range(6)]
        self.out_of_memory(run)
        for block in blocks:
            run.release(block)
        error = {'kind': 'out_of_memory', 'message': 'Tried to allocate 500.00 MiB.', 'phase': 'forward',
                 'iteration': 0}
        extra = 'X ' + json.dumps(error) + '\n'
        page = self.open(profile_made(self.folder, run, extra, exit_code=1))
        page.evaluate("document.querySelector('.table-row').click()")
        self.assertIn('lives load to end', self.text(page, '#details').replace('\n', ' '))
        self.filter_blocks(page, 'activations')
        page.evaluate("document.querySelector('.table-row').click()")
        self.assertIn('lives forward:0 to teardown', self.text(page, '#details').replace('\n', ' '))
        self.shot(page, 'teardown')

    def filter_blocks(self, page, text):
        page.evaluate(f"(() => {{ const box = document.getElementById('filter'); box.value = {json.dumps(text)};"
                      "box.dispatchEvent(new Event('input')); })()")  # fmt: skip
        page.settle()

    def test_out_of_memory_of_a_program(self):
        run = made_runs.MadeRun(made_runs.FACTS)
        stack = run.stack('aten::linear', 'fc (Linear)', ('model.py', 9))
        for _ in range(3):
            block = run.alloc(100 << 20, None, stack)
            self.out_of_memory(run)
            run.release(block)
        page = self.open(profile_made(self.folder, run))
        messages = self.text(page, '#messages')
        self.assertIn('Out of memory', messages)
        self.assertIn('500.00 MiB asked for by aten::linear at model.py:9, 1.00 MiB free on the device; '
                      'the last of 3 times', messages)

    def test_labels_do_not_collide(self):
        run = made_runs.MadeRun(made_runs.FACTS)
        stack = run.stack('aten::linear', 'fc (Linear)', ('model.py', 9))
        run.alloc(100 << 20, None, stack)
        for _ in range(12):
            self.out_of_memory(run)
        page = self.open(profile_made(self.folder, run))
        rows = json.loads(self.data(page, '#timeline', 'labels'))
        texts = [place for row in rows for place in row if place[1] - place[0] > 10]  # what else is there are marks
        self.assertGreaterEqual(len(texts), 3, rows)
        for row in rows:
            for text in set(map(tuple, row)) & set(map(tuple, texts)):
                for start, end in row:
                    self.assertTrue([start, end] == list(text) or end < text[0] or text[1] < start, rows)
        self.shot(page, 'labels')

    def test_trace_that_does_not_fit_together(self):
        block = {'size': 2 << 20, 'requested_size': 5000, 'state': 'active_allocated', 'frames': []}
        segment = {'device': 0, 'address': 1 << 32, 'total_size': 2 << 20, 'stream': 0, 'segment_type': 'small',
                   'blocks': [block]}
        twice = [{'action': 'alloc', 'addr': 1 << 32, 'size': 5000, 'stream': 0, 'frames': []}] * 2
        snapshot = self.folder / 'broken.pickle'
        snapshot.write_bytes(pickle.dumps({'segments': [segment], 'device_traces': [twice]}))
        page = self.open(inspect_page(snapshot))
        self.assertIn('does not fit together', self.text(page, '#messages'))
        self.assertIn('Only the final segments', self.text(page, '#messages'))
        self.assertEqual(int(self.data(page, 'body', 'allocated')), 2 << 20)

    def test_snapshot_of_pytorch(self):
        snapshot = self.folder / 'foreign.pickle'
        shutil.copyfile(ROOT / 'tests/data/P19.pickle', snapshot)
        document = json.loads(subprocess.run([options.torchmem, 'inspect', snapshot, '--json'], check=True,
                                             capture_output=True).stdout)
        page = self.open(inspect_page(snapshot))
        self.assertEqual(int(self.data(page, 'body', 'allocated')), document['devices'][0]['peak']['allocated_bytes'])
        self.assertIn('memory snapshot of PyTorch', self.text(page, '#head-text'))
        self.shot(page, 'foreign')


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--torchmem', required=True, help='the program under test')
    parser.add_argument('--shots', type=pathlib.Path, help='a folder to keep pictures in')
    options, rest = parser.parse_known_args()
    if not find_chromium():
        print('skipped: there is no chromium here')
        return SKIPPED
    return 0 if unittest.main(argv=[sys.argv[0], *rest], exit=False, verbosity=2).result.wasSuccessful() else 1


if __name__ == '__main__':
    sys.exit(main())
