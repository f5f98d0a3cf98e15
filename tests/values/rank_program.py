"""One of the programs of ranks.py, as torchrun starts it: `rank_program.py NAME`. Prints `RANK {json}` for each
finding.
"""

import json
import math
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

RANK = int(os.environ["RANK"])
RANKS = int(os.environ["WORLD_SIZE"])
DEVICE = torch.device("cuda", RANK)


def found(**what):
    sys.stdout.write(f"{RANK} {json.dumps(what)}\n")
    sys.stdout.flush()


def tensor(values, dtype=torch.int64):
    return torch.tensor(values, dtype=dtype).to(DEVICE)


def objects():
    """Objects of different lengths, in every way in which they travel."""
    given = [{"from": RANK, "text": "x" * 10 * RANK}, [RANK]]
    sent = list(given) if RANK == 0 else [None, None]
    dist.broadcast_object_list(sent, 0)
    gathered = [None] * RANKS
    dist.all_gather_object(gathered, given)
    at_root = [None] * RANKS if RANK == 1 else None
    dist.gather_object(given, at_root, 1)
    mine = [None]
    dist.scatter_object_list(mine, [{"for": rank} for rank in range(RANKS)], 0)
    passed = [None]
    if RANK > 0:
        dist.recv_object_list(passed, RANK - 1)
    if RANK < RANKS - 1:
        dist.send_object_list([{"from": RANK, "before": passed}], RANK + 1)
    found(broadcast=sent, gathered=gathered, at_root=at_root, scattered=mine, passed=passed)


def tensors():
    """Small tensors, in every collective and from one to one."""
    total = tensor([RANK + 1.5], torch.float32)
    dist.all_reduce(total)
    product = tensor([RANK + 1])
    dist.all_reduce(product, op=dist.ReduceOp.PRODUCT)
    gathered = [torch.empty(2, dtype=torch.int64, device=DEVICE) for _ in range(RANKS)]
    dist.all_gather(gathered, tensor([RANK, 7]))
    pieces = tensor([RANK * 10 + rank for rank in range(RANKS)])
    exchanged = torch.empty_like(pieces)
    dist.all_to_all_single(exchanged, pieces)
    part = torch.empty(1, dtype=torch.int64, device=DEVICE)
    dist.reduce_scatter_tensor(part, pieces)
    around = torch.empty(1, dtype=torch.int64, device=DEVICE)
    sends = [
        dist.P2POp(dist.irecv, around, (RANK - 1) % RANKS),
        dist.P2POp(dist.isend, tensor([RANK * 100]), (RANK + 1) % RANKS),
    ]
    for work in dist.batch_isend_irecv(sends):
        work.wait()
    one = tensor([0.0], torch.bfloat16)
    if RANK == 0:
        dist.send(tensor([2.5], torch.bfloat16), 1)
    elif RANK == 1:
        dist.recv(one, 0)
    halves = [dist.new_group(list(range(half, RANKS, 2))) for half in range(2)]
    of_half = tensor([RANK])
    dist.all_reduce(of_half, group=halves[RANK % 2])
    found(
        total=total.item(), product=product.item(), gathered=[one.tolist() for one in gathered],
        exchanged=exchanged.tolist(),
        part=part.item(), around=around.item(), one=one.item(), of_half=of_half.item(), factorial=math.factorial(RANKS),
    )  # fmt: skip


def barrier():
    """What a rank did before the barrier is done for all behind it."""
    dist.barrier()
    begin = time.time()
    if RANK == 0:
        time.sleep(1)
    dist.barrier()
    found(waited=time.time() - begin)


def network():
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256), nn.LayerNorm(256)) for _ in range(6)]
    return nn.Sequential(*layers).to(DEVICE)


def train(model, steps=3):
    """Each step waits for NCCL's watchdog, which looks every 100 ms for work that is done and lets go of its memory: a
    loop that is quicker has one set of buckets more or not, on GPUs too."""
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for _ in range(steps):
        model(torch.randn(32, 256, device=DEVICE)).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        time.sleep(0.5)
    torch.cuda.synchronize()
    return torch.cuda.memory_stats()["requested_bytes.all.peak"]


def ddp():
    model = nn.parallel.DistributedDataParallel(network(), device_ids=[RANK], bucket_cap_mb=1)
    peak = train(model)
    logged = model._get_ddp_logging_data()
    found(peak=peak, sizes=logged.get("rebuilt_bucket_sizes"), order=logged.get("rebuilt_per_bucket_param_indices"))


def fsdp2():
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cuda", (RANKS,))
    model = network()
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    train(model)
    whole = sum(parameter.numel() for parameter in model.parameters())
    local = sum(parameter.to_local().numel() for parameter in model.parameters())
    found(share=local / whole)


def gpipe():
    """The second stage learns shapes from the first one."""
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

    model = network()
    stage = PipelineStage(model, RANK, RANKS, DEVICE)
    schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=lambda output, target: (output - target).pow(2).mean())
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for _ in range(3):
        x = torch.randn(16, 24, 256, device=DEVICE)
        last = RANK == RANKS - 1
        output = schedule.step(x) if RANK == 0 else schedule.step(target=x) if last else schedule.step()
        optimizer.step()
        optimizer.zero_grad()
    found(output=list(output.shape) if output is not None else None,
          taken=[list(arg.shape) for arg in stage.inputs_meta or ()])


torch.cuda.set_device(DEVICE)
dist.init_process_group("nccl")
globals()[sys.argv[1]]()
dist.destroy_process_group()
