"""Uses the device in this process, then in a child that is spawned and in a program that is started; each prints its
peaks.
"""

import multiprocessing
import subprocess
import sys

import torch


def use(megabytes):
    kept = torch.empty(megabytes << 20, dtype=torch.uint8, device="cuda")
    print(torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), flush=True)
    return kept


if __name__ == "__main__":
    if len(sys.argv) > 1:
        use(30)
    else:
        use(10)
        child = multiprocessing.get_context("spawn").Process(target=use, args=(20,))
        child.start()
        child.join()
        subprocess.run([sys.executable, __file__, "started"], check=True)
        sys.exit(child.exitcode)
