"""What ranks send to each other under `torchmem run`: programs of several processes, each value as on GPUs."""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "run"))

from torchmem_run import PYTHON, RunTest, main, run  # noqa: E402


class Ranks(RunTest):
    def run_ranks(self, name, ranks):
        """What each rank found, by rank."""
        ended = run(
            PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks, HERE / "rank_program.py",
            name,
            options=["--devices", str(ranks)], PYTHONWARNINGS="ignore",
        )  # fmt: skip
        self.assert_ended(ended)
        self.assertEqual([line for line in ended.said if "NCCL" in line], [])
        found = {int(rank): json.loads(text) for rank,
                 text in re.findall(r"^(\d+) (\{.*\})$", ended.stdout, re.MULTILINE)}
        self.assertEqual(sorted(found), list(range(ranks)), ended.stdout + ended.stderr)
        return found

    def check_objects(self, ranks):
        given = [[{"from": rank, "text": "x" * 10 * rank}, [rank]] for rank in range(ranks)]
        passed = [None]
        for rank, found in sorted(self.run_ranks("objects", ranks).items()):
            self.assertEqual(found["broadcast"], given[0])
            self.assertEqual(found["gathered"], given)
            self.assertEqual(found["at_root"], given if rank == 1 else None)
            self.assertEqual(found["scattered"], [{"for": rank}])
            self.assertEqual(found["passed"], passed)
            passed = [{"from": rank, "before": passed}]

    def test_objects_of_two(self):
        self.check_objects(2)

    def test_objects_of_four(self):
        self.check_objects(4)

    def check_tensors(self, ranks):
        everyone = range(ranks)
        for rank, found in self.run_ranks("tensors", ranks).items():
            self.assertEqual(found["total"], sum(one + 1.5 for one in everyone))
            self.assertEqual(found["product"], found["factorial"])
            self.assertEqual(found["gathered"], [[one, 7] for one in everyone])
            self.assertEqual(found["exchanged"], [one * 10 + rank for one in everyone])
            self.assertEqual(found["part"], sum(one * 10 + rank for one in everyone))
            self.assertEqual(found["around"], (rank - 1) % ranks * 100)
            self.assertEqual(found["one"], 2.5 if rank == 1 else 0)
            self.assertEqual(found["of_half"], sum(one for one in everyone if one % 2 == rank % 2))

    def test_tensors_of_two(self):
        self.check_tensors(2)

    def test_tensors_of_four(self):
        self.check_tensors(4)

    def test_barrier(self):
        for found in self.run_ranks("barrier", 2).values():
            self.assertGreater(found["waited"], 0.9)

    def test_ddp_has_the_same_buckets_on_both_ranks(self):
        found = self.run_ranks("ddp", 2)
        self.assertTrue(found[0]["sizes"])
        self.assertGreater(len(found[0]["sizes"].split(",")), 3)
        self.assertEqual(found[0], found[1])

    def check_fsdp2(self, ranks):
        shares = [found["share"] for found in self.run_ranks("fsdp2", ranks).values()]
        self.assertEqual(shares, [1 / ranks] * ranks)

    def test_fsdp2_of_two(self):
        self.check_fsdp2(2)

    def test_fsdp2_of_four(self):
        self.check_fsdp2(4)

    def check_gpipe(self, ranks):
        found = self.run_ranks("gpipe", ranks)
        self.assertEqual(found[ranks - 1]["output"], [16, 24, 256])
        for rank in range(ranks):
            self.assertEqual(found[rank]["taken"], [[4, 24, 256]])

    def test_gpipe_of_two(self):
        self.check_gpipe(2)

    def test_gpipe_of_four(self):
        self.check_gpipe(4)


main()
