"""scripts/record_cudnn.py asked on the virtual GPU gives the facts that it was made from, and
scripts/make_cudnn_facts.py merges what it wrote."""

import json
import pathlib
import subprocess
import sys
import tempfile

from torchmem_run import PYTHON, RunTest, main, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
FACTS = ROOT / "src/vgpu/workspaces/h200-cudnn-91900.facts"
MERGE = ROOT / "scripts/make_cudnn_facts.py"


def lines_of(text):
    """{section and problem: answers} of facts, engines left out."""
    section, found = "", {}
    for line in text.splitlines():
        problem, _, answers = line.rpartition(": ")
        if line.startswith("["):
            section = line
        elif problem and section:
            found[f"{section} {problem}"] = [answer.partition("@")[0] for answer in answers.split()]
    return found


def some_facts(wanted):
    """Every n-th line of each section, as a file of facts."""
    sections, section = {}, None
    for line in FACTS.read_text().splitlines():
        if line.startswith("["):
            section = sections.setdefault(line, [])
        elif section is not None and wanted(line):
            section.append(line)
    kept = [line for name, lines in sections.items() for line in [name, *lines[:: max(len(lines) // 8, 1)]]]
    return "# some\n" + "\n".join(kept) + "\n"


class Record(RunTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def record(self, *problems, jobs=2):
        ended = run(PYTHON, ROOT / "scripts/record_cudnn.py", "--jobs", jobs, *problems)
        self.assertEqual(ended.code, 0, ended.stderr)
        return ended

    def test_facts_come_back(self):
        # Small ones: the virtual device holds no memory, but PyTorch still reserves addresses.
        def wanted(line):
            return " -> " in line and line.split("x")[0] in ("1", "2", "8") or line.startswith("batch_norm")

        asked = self.folder / "asked.facts"
        asked.write_text(some_facts(wanted))
        ended = self.record(asked)
        known, recorded = lines_of(FACTS.read_text()), lines_of(ended.stdout)
        both = [problem for problem in recorded if problem in known]  # of a batch norm not all three may be there
        self.assertGreater(len(both), 50)
        for problem in both:
            answers = recorded[problem]
            for answer, expected in zip(answers, known[problem], strict=True):
                if "-" not in (answer, expected):
                    self.assertEqual(answer, expected, problem)
        self.assertTrue(any(int(answers[0]) > 0 for problem, answers in recorded.items() if "batch_norm" in problem))

    def test_what_a_result_estimates_is_asked_and_merged(self):
        result = self.folder / "run.json"
        entry = {"name": "cudnn conv_forward", "problem": "f32 nchw 7x5x9x9 -> 6 k3x3 p1x1", "bytes": 1}
        others = [{"name": "cudnn ctc_loss", "problem": "x"}, {"name": "cufft", "problem": "y"}]
        result.write_text(json.dumps({"fidelity": {"estimated_workspaces": [entry, *others, entry]}}))
        more = self.folder / "more.facts"
        more.write_text(self.record(result, jobs=1).stdout)
        self.assertEqual(list(lines_of(more.read_text())), ["[conv f32 nchw] 7x5x9x9 -> 6 k3x3 p1x1"])
        merged = subprocess.run([sys.executable, MERGE, "h200", "91900", FACTS, more], capture_output=True, text=True,
                                check=True)
        before = lines_of(FACTS.read_text())
        self.assertEqual(lines_of(merged.stdout), {**before, **lines_of(more.read_text())})

    def test_the_first_of_two_answers_stands(self):
        one, other = self.folder / "one.facts", self.folder / "other.facts"
        one.write_text("# x\n[conv f32 nchw]\n1x1x8x8 -> 3 k3x3: 10 - 30@7\n")
        other.write_text("# x\n[conv f32 nchw]\n1x1x8x8 -> 3 k3x3: 11 20 30\n")
        merged = subprocess.run([sys.executable, MERGE, "h200", "91900", one, other], capture_output=True, text=True,
                                check=True)
        self.assertIn("1x1x8x8 -> 3 k3x3: 10 20 30@7\n", merged.stdout)
        self.assertIn("two answers for one problem, the first one stands: conv f32 nchw 1x1x8x8 -> 3 k3x3: 10 and 11",
                      merged.stderr)

    def test_what_cannot_be_run_is_left_out(self):
        asked = self.folder / "asked.facts"
        asked.write_text(
            "# x\n[conv i8 nchw]\n1x4x8x8 -> 4 k3x3: - - -\n[conv f32 nchw]\n4096x64x256x256 -> 4 k3x3: - - -\n")
        ended = self.record(asked, jobs=1)
        self.assertEqual(lines_of(ended.stdout), {})
        self.assertIn("left out: conv f32 nchw 4096x64x256x256 -> 4 k3x3: it is too large", ended.stderr)
        self.assertIn("0 recorded, 2 left out", ended.stderr)


if __name__ == "__main__":
    main()
