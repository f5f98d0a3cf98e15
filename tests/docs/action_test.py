"""The GitHub action and the pre-commit hook, as whoever uses them would run them.

python3 action_test.py --torchmem BIN --python PYTHON --models DIR
"""

import argparse
import json
import pathlib
import sys
import tempfile
import unittest

from reader import ROOT, Reader

INPUT = "f32:8x3x224x224"


class Action(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.reader = Reader(pathlib.Path(folder.name), options.torchmem, options.python.absolute(), options.models)
        self.reader.model("resnet18")

    def use(self, code, **inputs):
        """The job's summary and the report of an action that must end with this code."""
        ended, outputs, summary = self.reader.action(inputs)
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        self.assertEqual(outputs["passed"], "true" if code == 0 else "false")
        self.annotations = [line for line in ended.stderr.splitlines() if line.startswith("::")]
        report = self.reader.folder / outputs["report"] if outputs["report"] else None
        return summary, json.loads(report.read_text()) if report else None

    def make_baseline(self, arguments, name="memory.json"):
        ended = self.reader.run(f"torchmem gate --device virtual:h200 --baseline {name} --update {arguments}")
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_model_with_baseline(self):
        self.make_baseline(f"model.pt --input {INPUT}")
        summary, report = self.use(0, model="model.pt", input=INPUT, baseline="memory.json", tolerance="1%")
        self.assertIn("**torchmem gate: passed**", summary)
        self.assertEqual((report["schema"], report["passed"]), ("torchmem.gate/1", True))
        self.assertEqual(self.annotations, [])

    def test_model_that_grew(self):
        self.make_baseline(f"model.pt --input {INPUT} --optimizer sgd")
        # The baseline says with what it was made, so that only the model may differ.
        self.reader.model("resnet50")
        summary, report = self.use(1, model="model.pt", input=INPUT, baseline="memory.json", options="--optimizer=sgd")
        self.assertIn("**torchmem gate: failed**", summary)
        self.assertFalse(report["passed"])
        self.assertTrue(self.annotations and self.annotations[0].startswith("::error"), self.annotations)

    def test_budget_and_metrics(self):
        _, report = self.use(
            0,
            model="model.pt",
            input=INPUT,
            budget="24GiB",
            metric="allocated device",
            options="--mode=inference\n--steps=1\n",
        )
        self.assertEqual([check["name"] for check in report["checks"]], ["peak allocated", "peak device"])
        self.use(1, model="model.pt", input=INPUT, budget="1MiB")

    def test_several_inputs(self):
        """One a line, as a block of YAML gives them: with a line's end after the last."""
        bert = "ids=i64:1x16:below=30522\nmask=bool:1x16\n"
        self.use(0, model="bert.pt", input=bert, budget="24GiB", options="--mode=inference")

    def test_program(self):
        self.make_baseline("-- python3 train.py --rate=0.1", "train.json")
        for program in ("python3 train.py --rate=0.1", "python3  train.py --rate=0.1\n"):
            _, report = self.use(0, program=program, baseline="train.json")
            self.assertTrue(report["passed"])
        summary, _ = self.use(1, program="python3 train.py", budget="1KiB")
        self.assertIn("**torchmem gate: failed**", summary)

    def test_program_in_a_shell(self):
        """With words that only a shell understands, of several lines too; the page says how its baseline is made."""
        for program in (
            "cd . && python3 train.py",
            "RATE=0.1 python3 train.py",
            "python3 'train.py'",
            "cd .\npython3 train.py\n",
        ):
            self.use(0, program=program, budget="24GiB")
        self.make_baseline("-- bash -c 'cd . && python3 train.py'", "train.json")
        self.use(0, program="cd . && python3 train.py", baseline="train.json")

    def test_program_that_fails(self):
        summary, report = self.use(2, program="python3 train.py; exit 3", budget="24GiB")
        self.assertEqual((report["error"]["kind"], report["checks"]), ("model_failed", []))
        self.assertIn("**torchmem gate: error** for bash -c", summary)

    def test_no_result_of_an_earlier_use(self):
        self.use(0, model="model.pt", input=INPUT, budget="24GiB")
        summary, report = self.use(2, model="missing.pt", input=INPUT, budget="24GiB")
        self.assertEqual((report["error"]["kind"], report["checks"]), ("bad_model", []))
        self.assertIn("missing.pt does not exist", summary)
        self.assertEqual(
            self.use(2, model="model.pt", input=INPUT, budget="24GiB", options="--no-such-option"), ("", None)
        )

    def test_other_torchmem(self):
        """The input torchmem goes before the action's own."""
        (self.reader.folder / "scripts/torchmem").unlink()
        self.use(0, torchmem="torchmem", model="model.pt", input=INPUT, budget="24GiB")
        self.assertRaises(ValueError, self.reader.action, {"modell": "model.pt"})

    def test_hook(self):
        """pre-commit runs the entry with the arguments of the user's file behind it, and no file names."""
        (hook,) = self.reader.yaml((ROOT / ".pre-commit-hooks.yaml").read_text())
        self.assertEqual((hook["id"], hook["language"], hook["pass_filenames"]), ("torchmem-gate", "system", False))
        for budget, code in (("24GiB", 0), ("1MiB", 1)):
            ended = self.reader.run(f"{hook['entry']} model.pt --input {INPUT} --device virtual:h200 --budget {budget}")
            self.assertEqual(ended.returncode, code, ended.stderr)


parser = argparse.ArgumentParser()
parser.add_argument("--torchmem", required=True, type=pathlib.Path)
parser.add_argument("--python", required=True, type=pathlib.Path)
parser.add_argument("--models", required=True, type=pathlib.Path)
options, rest = parser.parse_known_args()
if not (options.models / "done").exists():
    print("the test models are not made")
    sys.exit(77)
unittest.main(argv=[sys.argv[0], *rest])
