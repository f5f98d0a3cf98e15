"""`torchmem run` of programs that start others."""

import os
import pathlib
import tempfile

from torchmem_run import PRINT_PEAKS, PROGRAMS, PYTHON, RunTest, main, run, run_python


class Processes(RunTest):
    def test_shell_script_that_starts_python(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "train.sh")
            script.write_text(
                "#!/bin/sh\nset -e\ncd /\n"
                f"'{PYTHON}' -c 'import torch; kept = torch.ones(1000).cuda(); {PRINT_PEAKS}'\nexit 5\n")
            script.chmod(0o755)
            ended = run(script)
        self.assert_ended(ended, 5)
        self.assert_peaks_as_printed(ended)

    def check_loader(self, context):
        ended = run(PYTHON, PROGRAMS / "data_loader.py", context)
        self.assert_ended(ended)
        self.assert_peaks_as_printed(ended)
        self.assertEqual(len([line for line in ended.said if "(pid " in line]), 1, ended.said)

    def test_data_loader_with_forked_workers(self):
        self.check_loader("fork")

    def test_data_loader_with_spawned_workers(self):
        self.check_loader("spawn")

    def test_children_that_use_the_device(self):
        ended = run(PYTHON, PROGRAMS / "children.py")
        self.assert_ended(ended)
        self.assertEqual(sorted(ended.peaks), sorted(ended.printed()), ended.stdout + ended.stderr)
        self.assertEqual(len(ended.processes), 3)

    def check_torchrun(self, backend):
        ended = run(
            PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", 2, PROGRAMS / "data_parallel.py",
            backend,
            options=["--devices", "2"],
        )  # fmt: skip
        self.assert_ended(ended)
        self.assertEqual(sorted(ended.peaks), sorted(ended.printed()), ended.stdout + ended.stderr)
        used = [device["device"] for process in ended.processes for device in process["devices"]]
        self.assertEqual(sorted(used), [0, 1])

    def test_torchrun_with_nccl(self):
        self.check_torchrun("nccl")

    def test_torchrun_with_gloo(self):
        self.check_torchrun("gloo")


class ClearedPreload(RunTest):
    def check_said(self, *program):
        ended = run(*program)
        self.assert_ended(ended)
        said = [line for line in ended.said if "LD_PRELOAD cleared" in line]
        self.assertEqual(len(said), 1, ended.stderr)

    def test_by_env(self):
        self.check_said("env", "-u", "LD_PRELOAD", "true")

    def test_by_a_shell(self):
        self.check_said("sh", "-c", "unset LD_PRELOAD; true; /bin/true")

    def test_by_python(self):
        self.check_said(PYTHON, "-c", "import subprocess; subprocess.run(['/bin/true'], env={}, check=True)")


class SharedMemory(RunTest):
    """A tensor that another process gets (CUDA IPC)."""

    def check_shared(self, settings):
        ended = run(PYTHON, PROGRAMS / "shared_tensor.py", PYTORCH_ALLOC_CONF=settings)
        self.assert_ended(ended)
        self.assertEqual(sorted(ended.peaks), sorted(ended.printed()), ended.stdout + ended.stderr)
        self.assertEqual(len(ended.peaks), 2)
        for process in ended.processes:
            self.assertEqual(process["unmodelled_calls"], 0, ended.stderr)
            self.assertNotIn("peak_outside_bytes", process["devices"][0])

    def test_segments(self):
        self.check_shared("")

    def test_expandable_segments(self):
        self.check_shared("expandable_segments:True")


class Compilation(RunTest):
    def test_it_is_said_that_compilation_is_not_supported(self):
        ended = run_python("""
            import torch
            model = torch.compile(torch.nn.Linear(8, 8).cuda())
            model(torch.ones(4, 8, device="cuda"))
            """)
        self.assertNotEqual(ended.code, 0)
        self.assertEqual(len([line for line in ended.said if "compiles (torch.compile)" in line]), 1, ended.said)

    def test_nothing_is_said_otherwise(self):
        ended = run_python("""
            import torch
            model = torch.compile(torch.nn.Linear(8, 8).cuda(), backend="eager")
            model(torch.ones(4, 8, device="cuda"))
            """)
        self.assert_ended(ended)
        self.assertEqual([line for line in ended.said if "compiles (torch.compile)" in line], [])

    def test_nothing_is_said_where_nothing_is_compiled(self):
        ended = run_python("""
            import torch
            @torch.compile
            def never_called(x):
                return torch.nn.functional.gelu(x)
            torch.nn.functional.gelu(torch.zeros(64, 1024, 1024, device="cuda"))
            """)
        self.assert_ended(ended)
        self.assertEqual([line for line in ended.said if "compiles (" in line], [])


main()
