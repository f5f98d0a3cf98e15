"""Runs the commands of documentation pages, and of the YAML that they show.

    python3 pages_test.py --torchmem BIN --python PYTHON --models DIR PAGE...

A command is an indented line that starts with torchmem, scripts/torchmem or python3. Of YAML, it is what GitHub's
action, GitLab's script and pre-commit's hook would run. A block of Python becomes export.py. All of a page run in one
folder, from top to bottom, so that a command finds what the ones before it made, and must end with exit code 0.
"""

import argparse
import pathlib
import re
import shlex
import sys
import tempfile

from reader import ROOT, Reader


def parts(text):
    """Yields ("command", line), ("yaml", text) and ("python", text) as they come."""
    pattern = re.compile(
        r"^```yaml\n(?P<yaml>.*?)^```|^```python\n(?P<python>.*?)^```"
        r"|^ {4}(?:\$ )?(?P<command>(?:(?:scripts/)?torchmem|python3) [^\n]+)",
        re.DOTALL | re.MULTILINE,
    )
    for match in pattern.finditer(text):
        yield match.lastgroup, match[match.lastgroup]


def run_command(reader, command):
    """Whether it did what it says, the command's name in the report, and the process."""
    reader.model("gpt2like" if "ids=" in command else "resnet18")
    if command.startswith("python3 "):
        # The tests' PyTorch comes without the vendor's libraries.
        ended = reader.run(f"torchmem run --device virtual:h200 -- {command}")
        return ended.returncode == 0, command, ended
    ended = reader.run(command)
    return ended.returncode == 0 and (ended.stdout or "peak allocated" in ended.stderr), command, ended


def github_step(reader, step):
    ended, outputs, summary = reader.action(step["with"])
    good = ended.returncode == 0 and outputs["passed"] == "true" and "**torchmem gate: passed**" in summary
    return good, f"uses {step['uses']} with {step['with']}", ended


def hook_command(reader, hook):
    hooks = {each["id"]: each for each in reader.yaml((ROOT / ".pre-commit-hooks.yaml").read_text())}
    return shlex.join([*shlex.split(hooks[hook["id"]]["entry"]), *hook["args"]])


def run_yaml(reader, text):
    """What the continuous integration that reads such a file would run of torchmem's."""
    document = reader.yaml(text)
    if "repos" in document:
        for repository in document["repos"]:
            for hook in repository["hooks"]:
                # Paths in `files` are what git names; the hook is for the model of its own arguments.
                if not any(re.search(hook["files"], argument) for argument in hook["args"]):
                    raise ValueError(f"the hook's files {hook['files']!r} match none of its arguments")
                yield run_command(reader, hook_command(reader, hook))
        return
    for name, job in (document.get("jobs") or document).items():
        found = False
        for step in job.get("steps", []):
            if "/torchmem@" in step.get("uses", ""):
                found = True
                yield github_step(reader, step)
        for command in job.get("script", []):
            found = True
            yield run_command(reader, command)
            for report in job.get("artifacts", {}).get("reports", {}).values():
                if not (reader.folder / report).exists():
                    raise ValueError(f"the job {name} reports {report}, which {command} does not make")
        if not found:
            raise ValueError(f"the job {name} runs nothing of torchmem's")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--torchmem", required=True, type=pathlib.Path)
    parser.add_argument("--python", required=True, type=pathlib.Path)
    parser.add_argument("--models", required=True, type=pathlib.Path)
    parser.add_argument("pages", nargs="+", metavar="PAGE")
    options = parser.parse_args()
    if not (options.models / "done").exists():
        print("the test models are not made")
        return 77
    failed = total = 0
    for page in options.pages:
        found = 0
        with tempfile.TemporaryDirectory() as folder:
            reader = Reader(pathlib.Path(folder), options.torchmem, options.python.absolute(), options.models)
            for kind, text in parts((ROOT / page).read_text()):
                if kind == "python":
                    (reader.folder / "export.py").write_text(text)
                    continue
                for good, name, ended in [run_command(reader, text)] if kind == "command" else run_yaml(reader, text):
                    found += 1
                    failed += not good
                    print(f"{'ok  ' if good else 'FAIL'} {page}: {name}", flush=True)
                    if not good:
                        print(f"exit code {ended.returncode}\n{ended.stdout[-1000:]}{ended.stderr[-2000:]}")
        total += found
        if not found:
            sys.exit(f"{page} shows no command: has its form changed?")
    print(f"{total - failed} of {total} commands did what they say")
    return 1 if failed else 0


sys.exit(main())
