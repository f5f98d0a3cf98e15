"""Distributed data-parallel training with the given backend, as torchrun starts it; every rank prints its peaks."""

import sys
import time

import torch
import torch.distributed as distributed
from torch.nn.parallel import DistributedDataParallel


def main():
    backend = sys.argv[1]
    distributed.init_process_group(backend)
    rank = distributed.get_rank()
    torch.cuda.set_device(rank)
    model = DistributedDataParallel(torch.nn.Linear(512, 512).cuda(), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        model(torch.randn(32, 512, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    ones = torch.ones(4, device="cuda")
    distributed.all_reduce(ones)
    gathered = [torch.empty(4, device="cuda") for _ in range(2)]
    distributed.all_gather(gathered, ones)
    distributed.broadcast(ones, 0)
    if backend == "nccl":
        distributed.reduce_scatter_tensor(torch.empty(2, device="cuda"), ones)
        distributed.all_to_all_single(torch.empty(4, device="cuda"), ones)
    distributed.barrier()
    # At once, as both write to the same pipe.
    sys.stdout.write(f"{torch.cuda.max_memory_allocated()} {torch.cuda.max_memory_reserved()}\n")
    sys.stdout.flush()
    distributed.destroy_process_group()
    # Gloo's own thread still lets go of the last tensors, and PyTorch aborts when Python ends just then.
    time.sleep(0.5)


main()
