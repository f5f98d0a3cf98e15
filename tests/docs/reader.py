"""A folder that has what a reader of the documentation would have, and what GitHub would make of action.yml there."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRAIN = (
    "import torch\nmodel = torch.nn.Linear(64, 64).cuda()\nmodel(torch.randn(8, 64, device='cuda')).sum().backward()\n"
)


EXPORT = """
import torch

model = torch.nn.Linear(4, 2).cuda().eval()
torch.jit.trace(model, torch.randn(3, 4, device="cuda")).save("exported.pt")
"""


class Reader:
    """Runs commands in `folder`: torchmem and python3 are in PATH; scripts/torchmem, models, a train.py and an
    export.py are there."""

    def __init__(self, folder, torchmem, python, models):
        self.folder, self.python = folder, python
        (folder / "train.py").write_text(TRAIN)
        (folder / "export.py").write_text(EXPORT)
        for name in ("scripts", "bin"):
            (folder / name).mkdir()
        # Also the action's own folder: without its input torchmem it runs the scripts/torchmem beside it.
        (folder / "scripts/torchmem").symlink_to(torchmem.resolve())
        shutil.copy(ROOT / "scripts/gate-action", folder / "scripts/gate-action")
        (folder / "test_models").symlink_to(ROOT / "test_models")
        shutil.copytree(ROOT / "scenarios", folder / "scenarios")
        for model in models.glob("*.pt"):
            (folder / model.name).symlink_to(model.resolve())
        # Scripts, since PATH cannot hold a folder with a colon in its name.
        for name, program in (("python3", python), ("torchmem", torchmem.resolve())):
            (folder / "bin" / name).write_text(f'#!/bin/sh\nexec {shlex.quote(str(program))} "$@"\n')
            (folder / "bin" / name).chmod(0o755)

    def model(self, name):
        """What model.pt is from here on."""
        (self.folder / "model.pt").unlink(missing_ok=True)
        (self.folder / "model.pt").symlink_to((self.folder / f"{name}.pt").resolve())

    def run(self, command, environment=None):
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        # GitHub sets this for every step; whoever runs the tests there does not want annotations of them.
        outside = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "RUNNER_"))}
        return subprocess.run(
            command,
            shell=True,
            cwd=self.folder,
            capture_output=True,
            text=True,
            env={**outside, **(environment or {}), "PATH": path},
        )

    def yaml(self, text):
        """Parsed by the tests' Python, which has PyYAML."""
        command = [self.python, "-c", "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"]
        return json.loads(subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout)

    def action(self, inputs):
        """Runs the action as GitHub does: its step's command, with the environment that action.yml makes of the inputs.

        Returns the process, the step's outputs, and what it added to the job's summary.
        """
        action = self.yaml((ROOT / "action.yml").read_text())
        unknown = set(inputs) - set(action["inputs"])
        if unknown:
            raise ValueError(f"action.yml has no input {', '.join(sorted(unknown))}")
        values = {f"inputs.{name}": str(inputs.get(name, each["default"])) for name, each in action["inputs"].items()}
        values["github.action_path"] = str(self.folder)
        steps = [step for step in action["runs"]["steps"] if "run" in step]
        if len(steps) != 1 or steps[0]["shell"] != "bash":
            raise ValueError("action.yml is expected to have one step that runs a command, in bash")
        environment = {
            name: re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda match: values[match[1]], text)
            for name, text in steps[0]["env"].items()
        }
        said = {name: self.folder / f".{name}" for name in ("output", "summary")}
        for file in said.values():
            file.write_text("")
        temporary = self.folder / "runner temp"
        temporary.mkdir(exist_ok=True)
        environment |= {
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(said["output"]),
            "GITHUB_STEP_SUMMARY": str(said["summary"]),
            "RUNNER_TEMP": str(temporary),
        }
        ended = self.run(f"bash -e -o pipefail -c {shlex.quote(steps[0]['run'])}", environment)
        outputs = dict(line.split("=", 1) for line in said["output"].read_text().splitlines())
        promised = {
            re.search(rf"steps\.{steps[0]['id']}\.outputs\.(\w+)", each["value"])[1]
            for each in action["outputs"].values()
        }
        if set(outputs) != promised:
            raise ValueError(f"action.yml promises the outputs {sorted(promised)}, the step gave {sorted(outputs)}")
        return ended, outputs, said["summary"].read_text()
