"""What programs see of the values of the virtual device, and what is said about those that it does not know."""

import pathlib
import tempfile

from torchmem_run import RunTest, main, run_python

LARGE = """
import torch
large = torch.randn(200, 300, device="cuda") @ torch.randn(300, 200, device="cuda")
"""


class Values(RunTest):
    def test_a_loop_that_ends_by_a_value(self):
        ended = run_python("""
            import torch
            left, rounds = torch.ones(2, dtype=torch.long, device="cuda"), 0
            while left.max() != 0 and rounds < 1000:
                rounds += 1
                left = left & ~torch.full((2,), rounds >= 20, dtype=torch.bool, device="cuda")
            print("rounds", rounds)
            """)
        self.assert_ended(ended)
        self.assertIn("rounds 20", ended.stdout)
        self.assertEqual(ended.processes[0]["assumed_values"], 0)

    def test_generate(self):
        ended = run_python("""
            import torch
            from transformers import LlamaConfig, LlamaForCausalLM
            config = LlamaConfig(vocab_size=1000, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                                 num_attention_heads=4, eos_token_id=2, bos_token_id=1, pad_token_id=0)
            model = LlamaForCausalLM(config).cuda().eval()
            print(tuple(model.generate(torch.randint(5, 900, (1, 16)).cuda(), max_new_tokens=20).shape))
            """, HF_HUB_OFFLINE="1")
        self.assert_ended(ended)
        self.assertIn("(1, 36)", ended.stdout)

    def test_resuming_from_a_checkpoint(self):
        # MiB as an H200 has them: weights and Adam's two moments, then the gradient and the step's temporaries.
        program = """
            import sys, torch
            def report(what):
                asked = torch.cuda.memory_allocated, torch.cuda.max_memory_allocated
                print(what, *(round(f() / 2**20) for f in asked))
            def step():
                model(torch.ones(8, 2048, device="cuda")).sum().backward(); optimizer.step(); optimizer.zero_grad()
            model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048, bias=False) for _ in range(4)]).cuda()
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
            if sys.argv[1] == "save":
                step(); report("trained")
                torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, sys.argv[2])
            else:
                saved = torch.load(sys.argv[2], map_location="cuda")
                model.load_state_dict(saved["model"]); optimizer.load_state_dict(saved["optimizer"]); del saved
                report("resumed")
                print("step", next(iter(optimizer.state.values()))["step"].item())
                step(); report("after")
            """
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder, "checkpoint.pt"))
            saved = run_python(program, "save", path)
            self.assert_ended(saved)
            told = [line for line in saved.said if "that this device does not hold, since no kernel ran" in line]
            self.assertEqual(len(told), 1, saved.said)
            self.assertIn(
                "torch.save writes a dict of 12 tensors with 192.0 MiB of this device, ['model']['0.weight'] among "
                "them: ", told[0])
            self.assertIn("4194304 of f32", told[0])
            resumed = run_python(program, "load", path)
        self.assert_ended(resumed)
        self.assertIn("trained 256 384", saved.stdout)
        self.assertIn("resumed 192 256\nstep 1.0\nafter 256 384", resumed.stdout)

    def test_what_the_host_gave_comes_back_and_costs_no_memory(self):
        ended = run_python("""
            import resource, torch
            def resident(): return int(open("/proc/self/statm").read().split()[1]) * 4096
            parts = []
            kept = torch.arange(6 << 20, dtype=torch.float32)
            torch.zeros(1).cuda()
            before = resident()
            for _ in range(20): parts.append(kept.cuda())
            grown = resident() - before
            assert grown < 64 << 20, grown
            assert all(torch.equal(part.cpu(), kept) for part in parts)
            assert torch.equal(parts[3][12345:12399].cpu(), kept[12345:12399])
            parts[3].add_(1)
            assert not torch.equal(parts[3].cpu(), kept)
            """)
        self.assert_ended(ended)
        self.assertEqual(ended.processes[0]["assumed_values"], 1)

    def test_memory_of_the_host_does_not_grow(self):
        ended = run_python("""
            import torch
            def resident(): return int(open("/proc/self/statm").read().split()[1]) * 4096
            model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256)).cuda()
            x, counter = torch.randn(64, 256, device="cuda"), torch.zeros(10, dtype=torch.long, device="cuda")
            for i in range(3000):
                counter += 1
                model(x).sum().backward(); model.zero_grad()
                if i == 1000: before = resident()
            assert counter[3].item() == 3000
            assert resident() - before < 32 << 20, resident() - before
            """)
        self.assert_ended(ended)

    def test_random_numbers_are_the_same_each_time_and_assumed(self):
        text = """
            import torch
            torch.manual_seed(3)
            drawn = [torch.randint(0, 1000, (1,), device="cuda").item() for _ in range(3)]
            print(drawn, torch.rand(2, device="cuda").tolist())
            print(torch.randperm(5, device="cuda").sum().item(), torch.rand(1).item())
            """
        first, second = run_python(text), run_python(text)
        self.assert_ended(first)
        self.assertEqual(first.stdout, second.stdout)
        numbers = eval(first.stdout.split("]")[0] + "]")
        self.assertEqual(len(set(numbers)), 3, "each draw is another one")
        self.assertEqual(first.processes[0]["assumed_values"], 5)
        self.assertIn("10 0.0042", first.stdout.splitlines()[1], "the CPU's own generator is as if nobody else drew")

    def test_a_captured_graph_counts_at_each_launch(self):
        ended = run_python("""
            import torch
            x, graph = torch.zeros(4, dtype=torch.long, device="cuda"), torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                x.add_(1)
                total = torch.cat([x, x]).sum()
            assert x.tolist() == [0, 0, 0, 0]
            for _ in range(3): graph.replay()
            assert x.tolist() == [3, 3, 3, 3] and total.item() == 24
            """)
        self.assert_ended(ended)


class Assumed(RunTest):
    def test_what_came_of_a_read(self):
        text = LARGE + """
losses = [large.mean().item()]
print(f"{large.sum().item()}")
if large[0, 0] > 100: pass
for _ in range(int(large.argmax())): break
kept = large[large > 0]
"""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "program.py")
            path.write_text(text)
            from torchmem_run import PYTHON, run

            ended = run(PYTHON, path)
        self.assert_ended(ended)
        said = {read["line"].rsplit(":")[-1]: read.get("decides")
                for read in ended.processes[0]["fidelity"]["assumed_values"]}
        self.assertEqual(said, {"5": None, "6": None, "7": "branch", "8": "loop", "9": "size"})

    def test_a_loop_that_does_not_end_is_said_and_ended(self):
        text = LARGE + "while large.mean() > -5: large = large @ large"
        ended = run_python(text, options=("--max-assumed-reads", "2500"))
        self.assert_ended(ended, 2)
        said = "\n".join(ended.said)
        self.assertIn("has read a value 1000 times that the virtual GPU does not know", said)
        self.assertNotIn("has read a value 2000 times", said)
        self.assertIn("more than 2500 assumed values were read (--max-assumed-reads)", said)
        self.assertNotEqual(ended.peaks, [])

    def test_what_the_user_says(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("aten::_local_scalar_dense: false, false, true\n")
            file.flush()
            text = LARGE + "rounds = 0\nwhile not large.mean() > 5: rounds += 1\nprint('rounds', rounds)"
            ended = run_python(text, options=("--assume", file.name))
        self.assert_ended(ended)
        self.assertIn("rounds 2", ended.stdout)

    def test_all_values(self):
        text = """
            import torch
            a = torch.arange(90000.0).reshape(300, 300).cuda()
            print((a @ a).sum().item() == 0, a.sum().item())
            """
        small = run_python(text)
        everything = run_python(text, options=("--values", "all"))
        self.assert_ended(everything)
        self.assertIn("False 4049955072.0", everything.stdout)
        self.assertEqual(everything.processes[0]["assumed_values"], 0)
        self.assertEqual(small.processes[0]["assumed_values"], 2)

    def test_no_values(self):
        text = """
            import torch
            a = torch.ones(3, device="cuda") + 1
            print(torch.tensor([7], device="cuda").item(), a.tolist())
            """
        ended = run_python(text, options=("--values", "none"))
        self.assert_ended(ended)
        self.assertTrue(ended.stdout.startswith("7 [1.0"), ended.stdout)


if __name__ == "__main__":
    main()
