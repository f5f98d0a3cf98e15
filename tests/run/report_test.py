"""`torchmem run`: the peaks it reports, however the program ends, and its exit codes."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from torchmem_run import PRINT_PEAKS, PYTHON, RunTest, TORCHMEM, main, run, run_python

# The last allocation is made by no operator, and of a size that gets a larger block than it asks for.
TRAIN = f"""
import ctypes, os, signal, sys, torch
model = torch.nn.Linear(784, 4096).cuda()
model(torch.randn(64, 784, device="cuda")).relu().sum().backward()
storage = torch.UntypedStorage(11 << 20, device="cuda")
{PRINT_PEAKS}
"""


class Peaks(RunTest):
    def check_end(self, how, code):
        ended = run_python(TRAIN + how)
        self.assert_ended(ended, code)
        self.assert_peaks_as_printed(ended)
        return ended

    def test_ordinary_end(self):
        ended = self.check_end("", 0)
        allocated, reserved = ended.peaks[0]
        line = [line for line in ended.said if "peak allocated" in line]
        self.assertEqual(len(line), 1)
        self.assertIn(f"{allocated:,}", line[0])
        self.assertIn(f"{reserved:,}", line[0])
        self.assertNotIn("torchmem", ended.stdout)

    def test_exit_without_cleaning_up(self):
        self.check_end("os._exit(7)", 7)

    def test_kill(self):
        self.check_end("os.kill(os.getpid(), signal.SIGKILL)", 128 + signal.SIGKILL)

    def test_abort(self):
        self.check_end("os.abort()", 128 + signal.SIGABRT)

    def test_segmentation_fault(self):
        self.check_end("ctypes.string_at(0)", 128 + signal.SIGSEGV)

    def test_exception(self):
        ended = self.check_end("raise ValueError('as it is')", 1)
        self.assertIn("ValueError: as it is", ended.stderr)

    def test_peaks_that_the_program_resets(self):
        ended = run_python(f"""
            import torch
            large = torch.empty(500 << 20, dtype=torch.uint8, device="cuda")
            {PRINT_PEAKS}
            del large
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            torch.ones(1000, device="cuda")
            """)
        self.assert_ended(ended)
        self.assert_peaks_as_printed(ended)

    def test_out_of_memory_is_counted(self):
        ended = run_python("""
            import torch
            kept = torch.ones(1000, device="cuda")
            for _ in range(2):
                try:
                    torch.empty(200 << 30, dtype=torch.uint8, device="cuda")
                except torch.OutOfMemoryError as error:
                    assert "Tried to allocate 200.00 GiB. GPU 0 has a total capacity of 139.80 GiB" in str(error), error
            """)
        self.assert_ended(ended)
        self.assertEqual(ended.processes[0]["devices"][0]["out_of_memory"], 2)
        self.assertIn("2 out-of-memory errors", "\n".join(ended.said))

    def test_values_the_host_overwrote_or_a_kernel(self):
        ended = run_python("""
            import torch
            known = torch.tensor([1.0, 2.0, 3.0]).cuda()
            assert known.tolist() == [1, 2, 3]
            assert torch.tensor([1, 2], device="cuda").tolist() == [1, 2]
            assert known.unsqueeze_(0).requires_grad_().detach().tolist() == [[1, 2, 3]], "no memory was written"
            known = known.detach().squeeze_()
            known.add_(1)
            assert known.tolist() == [2, 3, 4], "what is small is computed"
            assert torch.zeros(3, device="cuda").tolist() == [0, 0, 0]
            view = torch.tensor([[1, 2], [3, 4]]).cuda()
            view[0] += 1
            assert view.tolist() == [[2, 3], [3, 4]]
            large = torch.ones(1000, 1000, device="cuda") @ torch.ones(1000, 1000, device="cuda")
            assert 1 <= large[5, 7].item() < 1.5, "what is not known is a number that a healthy run has"
            again = torch.tensor([5, 6]).cuda()
            address = again.data_ptr()
            del again
            fresh = torch.empty(2, dtype=torch.long, device="cuda")
            assert fresh.data_ptr() == address and fresh.tolist() == [0, 0], "a fresh block holds nothing"
            """)
        self.assert_ended(ended)
        self.assertEqual(ended.processes[0]["assumed_values"], 2)

    def test_history_of_the_program_itself(self):
        ended = run_python(f"""
            import torch
            torch.cuda.memory._record_memory_history()
            kept = torch.randn(100, 100, device="cuda") @ torch.randn(100, 100, device="cuda")
            trace = torch.cuda.memory._snapshot()["device_traces"][0]
            assert any(event["action"] == "alloc" and event["frames"] for event in trace), trace
            {PRINT_PEAKS}
            """)
        self.assert_ended(ended)
        self.assert_peaks_as_printed(ended)


class BesideTheAllocator(RunTest):
    """What CUDA is used for without PyTorch's caching allocator."""

    def test_an_allocator_that_caches_nothing(self):
        ended = run_python("""
            import torch
            kept = torch.zeros(256 << 20, dtype=torch.uint8, device="cuda")
            """, PYTORCH_NO_CUDA_MEMORY_CACHING="1")
        self.assert_ended(ended)
        self.assertEqual(ended.processes[0]["devices"][0]["peak_outside_bytes"], 256 << 20)
        said = "\n".join(ended.said)
        self.assertIn("it used the device, but nothing of PyTorch's caching allocator", said)
        self.assertIn("outside PyTorch's allocator: peak 256.00 MiB (268,435,456 B) by cudaMalloc", said)

    def test_cuda_malloc_beside_it(self):
        ended = run_python(f"""
            import ctypes, torch
            cuda = ctypes.CDLL(None)
            def malloc(size):
                address = ctypes.c_void_p()
                assert cuda.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(size)) == 0
                return address
            first = malloc(3 << 20)
            kept = [torch.zeros(size << 20, dtype=torch.uint8, device="cuda") for size in (1, 30, 500)]
            second = malloc(5 << 20)
            kept.pop()
            torch.cuda.empty_cache()
            kept.append(torch.zeros(700 << 20, dtype=torch.uint8, device="cuda"))
            assert cuda.cudaFree(first) == 0
            malloc(1 << 20)
            {PRINT_PEAKS}
            """)
        self.assert_ended(ended)
        self.assert_peaks_as_printed(ended)
        self.assertEqual(ended.processes[0]["devices"][0]["peak_outside_bytes"], 8 << 20)

    def test_nothing_is_outside_as_a_rule(self):
        for settings in ("", "expandable_segments:True"):
            ended = run_python(TRAIN + "torch.cuda.empty_cache()", PYTORCH_ALLOC_CONF=settings)
            self.assert_ended(ended)
            self.assertNotIn("peak_outside_bytes", ended.processes[0]["devices"][0])

    def test_pinned_memory(self):
        ended = run_python("import torch; assert torch.zeros(1 << 20).pin_memory().is_pinned()")
        self.assert_ended(ended)
        self.assertEqual(ended.processes[0]["peak_pinned_bytes"], 4 << 20)
        self.assertIn("it pinned 4.00 MiB (4,194,304 B) of host memory, and allocated nothing on the device",
                      ended.said[0])

    def test_no_device_is_left(self):
        ended = run_python("import torch; assert not torch.cuda.is_available()", CUDA_VISIBLE_DEVICES="3")
        self.assert_ended(ended)
        self.assertEqual(len(ended.said), 1)
        self.assertIn('CUDA_VISIBLE_DEVICES is "3", which leaves it none', ended.said[0])

    def test_a_backend_that_the_program_chooses(self):
        ended = run_python("""
            import os
            os.environ["PYTORCH_ALLOC_CONF"] = "backend:cudaMallocAsync"
            import torch
            torch.ones(3, device="cuda")
            """)
        self.assertNotEqual(ended.code, 0)
        said = "\n".join(ended.said)
        self.assertNotIn("never used", said)
        self.assertRegex(said, r"unmodelled calls?: cuda\w+")
        self.assertIn("or on a real GPU", said)
        self.assertTrue(ended.processes[0]["fidelity"]["unmodelled_calls"])


class ExitCodes(RunTest):
    def test_no_use_of_cuda(self):
        for program in (["true"], [PYTHON, "-c", "import torch; torch.ones(3)"]):
            ended = run(*program)
            self.assert_ended(ended)
            self.assertEqual(ended.said, ["torchmem: the program never used CUDA"])

    def test_code_of_the_program(self):
        for code in (1, 2, 3, 42, 255):
            self.assert_ended(run("sh", "-c", f"exit {code}"), code)
        self.assert_ended(run("sh", "-c", "kill -TERM $$"), 128 + signal.SIGTERM)

    def test_program_that_is_not_there(self):
        ended = run("no-such-program")
        self.assert_ended(ended, 2)
        self.assertIn("no-such-program", ended.stderr)
        self.assert_ended(run("/no/such/program"), 2)

    def test_another_torch(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "torch")
            package.mkdir()
            (package / "__init__.py").write_text("")
            (package / "version.py").write_text("__version__ = '2.4.1+cu121'\ncuda = '12.1'\n")
            ended = run(PYTHON, "-c", "print('started')", PYTHONPATH=folder)
        self.assert_ended(ended, 3)
        self.assertIn("2.4.1+cu121", ended.stderr)
        self.assertIn("2.11.0", ended.stderr)
        self.assertNotIn("started", ended.stdout)


class Place(RunTest):
    def test_a_checkout_with_blanks_and_colons_in_its_path(self):
        built = pathlib.Path(TORCHMEM).parent.parent
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "a check out: $HOME, here")
            (copy / "bin").mkdir(parents=True)
            shutil.copy(TORCHMEM, copy / "bin")
            for part in ("lib/torchmem", "share/torchmem"):
                shutil.copytree(built / part, copy / part)
            ended = run_python(TRAIN, torchmem=str(copy / "bin/torchmem"))
        self.assert_ended(ended)
        self.assert_peaks_as_printed(ended)


main()
