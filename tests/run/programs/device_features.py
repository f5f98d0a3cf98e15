"""CUDA as PyTorch offers it beside operators: streams, events, graphs, pinned memory, the allocator's tools, the
profiler.
"""

import os
import tempfile

import torch
from features import check, run_checks

x = torch.randn(64, 64, device="cuda")


@check
def properties():
    assert torch.cuda.get_device_name() == "NVIDIA H200"
    assert torch.cuda.get_device_capability() == (9, 0)
    assert torch.cuda.is_bf16_supported()
    free, total = torch.cuda.mem_get_info()
    assert 0 < free < total == torch.cuda.get_device_properties(0).total_memory
    assert torch.backends.cudnn.version() == 91900
    torch.cuda.get_arch_list()
    torch.cuda.nccl.version()
    torch.cuda.current_blas_handle()
    torch.cuda.ipc_collect()


@check
def random_state():
    torch.cuda.manual_seed_all(3)
    torch.cuda.set_rng_state(torch.cuda.get_rng_state())


@check
def streams():
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        y = x @ x
        y.record_stream(torch.cuda.current_stream())
    stream.synchronize()
    torch.cuda.current_stream().wait_stream(stream)
    assert stream.query()
    torch.cuda.Stream(priority=-1)
    torch.cuda.ExternalStream(stream.cuda_stream)


@check
def events():
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    x @ x
    end.record()
    torch.cuda.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0


@check
def pinned_memory():
    pinned = torch.ones(1000).pin_memory()
    assert pinned.is_pinned() and not torch.ones(3).is_pinned()
    assert pinned.to("cuda", non_blocking=True).cpu().eq(1).all()
    assert torch.empty(10, pin_memory=True).is_pinned()
    torch.cuda.host_memory_stats()


@check
def graph():
    model = torch.nn.Linear(64, 64).cuda()
    inputs = torch.zeros(64, 64, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            model(inputs).sum().backward()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = model(inputs).relu()
        result.sum().backward()
    graph.replay()
    graph.replay()
    result.cpu()
    graph.reset()


@check
def graphed_callables():
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Dropout(0.1)).cuda()
    sample = torch.randn(4, 64, device="cuda", requires_grad=True)
    model = torch.cuda.make_graphed_callables(model, (sample,))
    model(torch.randn(4, 64, device="cuda", requires_grad=True)).sum().backward()


@check
def snapshot():
    torch.cuda.memory._record_memory_history()
    torch.randn(100, 100, device="cuda") @ torch.randn(100, 100, device="cuda")
    taken = torch.cuda.memory._snapshot()
    assert taken["segments"] and any(event["action"] == "alloc" for event in taken["device_traces"][0])
    with tempfile.TemporaryDirectory() as folder:
        torch.cuda.memory._dump_snapshot(os.path.join(folder, "snapshot.pickle"))
    torch.cuda.memory._record_memory_history(enabled=None)


@check
def memory_summary():
    assert "Allocated memory" in torch.cuda.memory_summary()
    torch.cuda.memory_snapshot()


@check
def memory_pool():
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        torch.ones(1000, device="cuda")


@check
def out_of_memory():
    try:
        torch.empty(200 << 30, device="cuda", dtype=torch.uint8)
        raise AssertionError("there is no such device")
    except torch.OutOfMemoryError as error:
        assert "Tried to allocate 200.00 GiB. GPU 0 has a total capacity of 139.80 GiB" in str(error), error
        assert "Including non-PyTorch memory, this process has" in str(error), error


@check
def memory_fraction():
    torch.cuda.set_per_process_memory_fraction(0.1)
    try:
        torch.empty(20 << 30, device="cuda", dtype=torch.uint8)
        raise AssertionError("more than the fraction")
    except torch.OutOfMemoryError as error:
        assert "13.98 GiB allowed" in str(error), error
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


@check
def profiler():
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities, profile_memory=True, record_shapes=True, with_stack=True) as taken:
        (x @ x).relu().sum().item()
    taken.key_averages().table()
    with tempfile.TemporaryDirectory() as folder:
        taken.export_chrome_trace(os.path.join(folder, "trace.json"))


@check
def ranges():
    torch.cuda.nvtx.range_push("a")
    torch.cuda.nvtx.range_pop()


@check
def kernels_made_at_run_time():
    add = torch.cuda.jiterator._create_jit_fn("template <typename T> T add(T a, T b) { return a + b; }")
    add(x, x)
    traced = torch.jit.trace(lambda a: (a * 2 + 1).relu().tanh() * a, (x,))
    for _ in range(4):  # the fuser starts at the second call
        traced(x)


@check
def saving():
    import io

    file = io.BytesIO()
    torch.save({"x": x}, file)
    for place in (None, "cpu"):
        file.seek(0)
        torch.load(file, map_location=place)
    str(x)


run_checks()
