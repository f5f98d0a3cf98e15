"""What PyTorch offers on a CUDA device works, or at least ends as it should, on the virtual one."""

import os
import pathlib
import re
import subprocess
import tempfile

from torchmem_run import PRINT_PEAKS, PROGRAMS, PYTHON, RunTest, TORCHMEM, main, run, run_python


class Device(RunTest):
    def check_program(self, name, **environment):
        """Runs a program of checks: every one of them is a sub-test."""
        ended = run(PYTHON, PROGRAMS / name, **environment)
        self.assert_ended(ended)
        outcomes = re.findall(r"^(ok|failed) (\w+)(.*)$", ended.stdout, re.M)
        self.assertGreater(len(outcomes), 10)
        for outcome, check, error in outcomes:
            with self.subTest(check):
                self.assertEqual(outcome, "ok", error)

    def test_features(self):
        self.check_program("device_features.py")

    def test_operators(self):
        self.check_program("operators.py")

    def test_features_with_expandable_segments(self):
        self.check_program("device_features.py", PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")

    def test_peaks_with_expandable_segments(self):
        ended = run_python(f"""
            import torch
            for size in (1000, 30 << 20, 300 << 20, 50 << 20):
                kept = torch.empty(size, dtype=torch.uint8, device="cuda")
            torch.cuda.empty_cache()
            {PRINT_PEAKS}
            """, PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")  # fmt: skip
        self.assert_ended(ended)
        self.assert_peaks_as_printed(ended)

    def test_cub_on_cards_that_pytorch_has_no_code_of_its_own_for(self):
        for card in ("l4", "v100-16"):
            with self.subTest(card):
                ended = run_python("""
                    import torch
                    numbers = torch.randint(0, 9, (5000,), device="cuda")
                    numbers.sort()
                    numbers.cumsum(0)
                    numbers.unique()
                    numbers.nonzero()
                    torch.nn.Embedding(9, 4, device="cuda")(numbers).sum().backward()
                    """, device=f"virtual:{card}")  # fmt: skip
                self.assert_ended(ended)

    def test_what_a_capture_cannot_hold(self):
        ended = run_python("""
            import os, torch
            x = torch.ones(8, device="cuda")
            try:
                with torch.cuda.graph(torch.cuda.CUDAGraph()):
                    (x + x).sum().item()
            except RuntimeError as error:
                assert "captur" in str(error), error
                os._exit(0)  # PyTorch's own state is lost, as on a real device
            os._exit(1)
            """)
        self.assert_ended(ended)

    def test_devices(self):
        ended = run_python("""
            import torch
            assert torch.cuda.device_count() == 2
            for device in range(2):
                torch.ones(1000 * (device + 1), device=f"cuda:{device}")
            a = torch.tensor([1, 2, 3], device="cuda:0").to("cuda:1")
            assert a.tolist() == [1, 2, 3]
            """, options=["--devices", "2"])  # fmt: skip
        self.assert_ended(ended)
        self.assertEqual(len(ended.peaks), 2)

class Join(RunTest):
    """What loads the agent on a real GPU does so before the allocator's first segment. The virtual device, which would
    load it a moment later, stands for the real one."""

    def check_join(self, configuration):
        with tempfile.TemporaryDirectory() as folder:
            libraries = pathlib.Path(folder, "libraries")  # a name without blanks or colons
            libraries.symlink_to(pathlib.Path(TORCHMEM).resolve().parent.parent / "lib/torchmem")
            preloaded = [libraries / "libtorchmem_join.so"]
            preloaded += [libraries / "vgpu" / name for name in (libraries / "vgpu/preload.list").read_text().split()]
            changes = {
                "LD_PRELOAD": " ".join(map(str, preloaded)),
                "LD_DEBUG": "files",
                "LD_DEBUG_OUTPUT": f"{folder}/loader",
                "TORCHMEM_RUN_DIR": folder,
                "TORCHMEM_AGENT": str(libraries / "libtorchmem_agent.so"),
                "PYTORCH_CUDA_ALLOC_CONF": configuration,
            }
            program = "import torch; kept = torch.ones(1000, device='cuda')"
            subprocess.run([PYTHON, "-c", program], env={**os.environ, **changes}, check=True)
            loader = "".join(path.read_text() for path in pathlib.Path(folder).glob("loader*"))
            states = list(pathlib.Path(folder).glob("process-*"))
        loaded_by = re.findall(r"libtorchmem_agent.so \[0\];\s+dynamically loaded by \S*/(\S+)", loader)
        self.assertEqual(loaded_by[:1], ["libtorchmem_join.so"])
        self.assertEqual(len(states), 1)

    def test_cuda_malloc(self):
        self.check_join("")

    def test_expandable_segments(self):
        self.check_join("expandable_segments:True")


main()
