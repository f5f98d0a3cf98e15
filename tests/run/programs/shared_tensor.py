"""Hands a tensor to another process, which uses it and gives it back; each prints its peaks."""

import torch
import torch.multiprocessing as multiprocessing

MiB = 1 << 20


def print_peaks():
    print(torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), flush=True)


def consume(queue, done):
    shared = queue.get()
    assert shared.shape == (64 * MiB,) and shared.is_cuda
    own = shared[: 2 * MiB] + 1
    print_peaks()
    assert torch.cuda.memory_allocated() == own.nbytes, "what is shared is not the consumer's"
    del shared
    torch.cuda.ipc_collect()
    done.set()


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue, done = context.Queue(), context.Event()
    consumer = context.Process(target=consume, args=(queue, done))
    consumer.start()
    given = torch.zeros(64 * MiB, dtype=torch.uint8, device="cuda")
    queue.put(given)
    assert done.wait(100), "it was not handed over"
    consumer.join()
    assert consumer.exitcode == 0
    del given
    torch.cuda.ipc_collect()
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == 0, "it came back"
    print_peaks()
