#!/usr/bin/env python3
"""Ask the cuDNN of this machine's GPU how much workspace convolutions and batch norms need, through PyTorch.

    record_cudnn.py [--jobs N] PROBLEMS... > more.facts

PROBLEMS are results of torchmem in JSON, whose estimated convolutions and batch norms are asked about, or files of
facts, all of whose are. The output has the form of a file of facts; scripts/make_cudnn_facts.py merges it into one.
What cannot be run, for example for want of memory, is left out and named on stderr. An interrupted recording writes
what it has. docs/facts/cudnn.md says what this is for.

A workspace is what PyTorch asks its allocator for while the operation runs, without the results: to the byte, on any
machine with PyTorch and a GPU.
"""

import argparse
import json
import multiprocessing
import pathlib
import re
import signal
import sys

LARGEST = 4 << 30  # bytes of the input or the output; larger ones are left out


def problem_of(name, problem):
    """"conv f32 nchw 16x64x56x56 -> 64 k3x3 p1x1" or "batch_norm mode=1 f32 16x64x56x56 nchw": one for all its
    operations.
    """
    kind = next((kind for kind in ("conv", "batch_norm") if name.startswith(kind + "_")), None)
    return f"{kind} {problem}" if kind else None


def problems_of_json(value):
    """The problems named anywhere in a result."""
    if isinstance(value, dict):
        name = str(value.get("name", ""))
        if name.startswith("cudnn ") and "problem" in value:
            yield problem_of(name.removeprefix("cudnn "), value["problem"])
        for one in value.values():
            yield from problems_of_json(one)
    elif isinstance(value, list):
        for one in value:
            yield from problems_of_json(one)


def problems_of_facts(text):
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line[1:-1]
        elif section and ": " in line:
            problem = line.rpartition(": ")[0]
            yield problem_of(*problem.split(" ", 1)) if section == "other" else f"{section} {problem}"


def read_problems(paths):
    found = {}
    for path in paths:
        text = path.read_text()
        found.update(dict.fromkeys(problems_of_json(json.loads(text)) if text.startswith("{")
                                   else problems_of_facts(text)))
    found.pop(None, None)
    return list(found)


def ints(text):
    return [int(number) for number in text.split("x")]


class Convolution:
    """A convolution in words, as numbers. `output` and the filters' dimensions follow from the rest."""

    def __init__(self, text):
        _, self.type, self.layout, dims, _, filters, *words = text.split()
        self.input = ints(dims)
        count = len(self.input) - 2
        said = {word[0]: ints(word[1:]) for word in words}
        self.padding = said.get("p", [0] * count)
        self.stride = said.get("s", [1] * count)
        self.dilation = said.get("d", [1] * count)
        self.groups = said.get("g", [1])[0]
        self.filters = [int(filters), self.input[1] // self.groups, *said["k"]]
        self.output = [self.input[0], int(filters)] + [
            (size + 2 * p - d * (k - 1) - 1) // s + 1
            for size, k, p, s, d in zip(self.input[2:], said["k"], self.padding, self.stride, self.dilation)]


def requested(torch, make):
    """(bytes asked of the allocator while `make` runs, without those of its results; the results)"""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_stats()["requested_bytes.all.current"]
    made = make()
    peak = torch.cuda.memory_stats()["requested_bytes.all.peak"]
    results = [one for one in (made if isinstance(made, (tuple, list)) else [made]) if one is not None]
    return peak - before - sum(one.untyped_storage().nbytes() for one in results), results


def maker(torch, type_name, layout, count):
    """A function from dimensions to a tensor of zeros, for tensors of `count` dimensions."""
    types = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16}
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    memory_format = torch.contiguous_format if layout == "nchw" else formats[count]

    if type_name not in types:
        raise RuntimeError(f"tensors of {type_name} are not asked about")

    def tensor(dims):
        if torch.Size(dims).numel() * types[type_name].itemsize > LARGEST:
            raise RuntimeError("it is too large")
        return torch.zeros(dims, dtype=types[type_name], device="cuda").to(memory_format=memory_format)

    return tensor


def record_convolution(torch, text):
    """[forward, backward for the input, backward for the filters], None for one that PyTorch does not give to cuDNN."""
    problem = Convolution(text)
    tensor = maker(torch, problem.type, problem.layout, len(problem.input))
    zeros = [0] * len(problem.stride)
    settings = (problem.groups, False, False, torch.backends.cudnn.allow_tf32)
    x, w, y = tensor(problem.input), tensor(problem.filters), tensor(problem.output)
    forward, _ = requested(torch, lambda: torch.cudnn_convolution(
        x, w, problem.padding, problem.stride, problem.dilation, *settings))
    # What the transposed convolution must add to its output to have the input's size.
    rest = [size - ((out - 1) * s - 2 * p + d * (k - 1) + 1) for size, out, k, p, s, d in zip(
        problem.input[2:], problem.output[2:], problem.filters[2:], problem.padding, problem.stride, problem.dilation)]
    backward_data, _ = requested(torch, lambda: torch.cudnn_convolution_transpose(
        y, w, problem.padding, rest, problem.stride, problem.dilation, *settings))
    backend = torch._C._select_conv_backend(x, w, None, problem.stride, problem.padding, problem.dilation, False, zeros,
                                            problem.groups)
    if backend != torch._C._ConvBackend.Cudnn:
        return [forward, backward_data, None]
    backward_filter, _ = requested(torch, lambda: torch.ops.aten.convolution_backward(
        y, x, w, None, problem.stride, problem.padding, problem.dilation, False, zeros, problem.groups,
        [False, True, False]))
    return [forward, backward_data, backward_filter]


def record_batch_norm(torch, text):
    """[forward, backward, reserve], all of training."""
    _, mode, type_name, dims, layout = text.split()
    dims = ints(dims)
    if mode != ("mode=1" if layout == "nchw" else "mode=2"):
        raise RuntimeError("PyTorch does not ask that")
    x = maker(torch, type_name, layout, len(dims))(dims)
    one, running_mean, running_variance = (torch.ones(dims[1], device="cuda") for _ in range(3))
    forward, (y, mean, variance, reserve) = requested(torch, lambda: torch.cudnn_batch_norm(
        x, one, one, running_mean, running_variance, True, 0.1, 1e-5))
    backward, _ = requested(torch, lambda: torch.ops.aten.cudnn_batch_norm_backward(
        x, y, one, one, one, mean, variance, 1e-5, reserve))
    return [forward, backward, reserve.untyped_storage().nbytes()]


def record(text):
    """(text, its three answers or what went wrong)"""
    import torch

    try:
        return text, (record_convolution if text.startswith("conv ") else record_batch_norm)(torch, text)
    except RuntimeError as error:
        return text, str(error).splitlines()[0]
    finally:
        if torch.cuda.memory_reserved() > LARGEST:
            torch.cuda.empty_cache()


def write_facts(recorded, out):
    import torch

    def order(line):
        return line.count("x"), [int(number) for number in re.findall(r"\d+", line)]

    sections, others = {}, []
    for text, answers in recorded.items():
        words = ["-" if bytes is None else str(bytes) for bytes in answers]
        kind, first, second, rest = text.split(" ", 3)
        if kind == "conv":
            sections.setdefault(f"conv {first} {second}", []).append(f"{rest}: {' '.join(words)}")
        else:
            others += [f"{text.replace(kind, f'{kind}_{operation}', 1)}: {word}"
                       for operation, word in zip(("forward", "backward", "reserve"), words)]
    if others:
        sections["other"] = others
    print(f"# What cuDNN {torch.backends.cudnn.version()} answered on a {torch.cuda.get_device_name()}.", file=out)
    for section in sorted(sections):
        print(f"\n[{section}]", file=out)
        for line in sorted(sections[section], key=order):
            print(line, file=out)


def ignore_interrupt(*_):
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def interrupt_once(*_):
    ignore_interrupt()
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="+", type=pathlib.Path, metavar="PROBLEMS")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once (default 1)")
    options = parser.parse_args()
    recorded, failed = {}, 0
    problems = read_problems(options.problems)
    with multiprocessing.get_context("spawn").Pool(options.jobs, ignore_interrupt) as pool:
        signal.signal(signal.SIGINT, interrupt_once)
        try:
            for text, answers in pool.imap_unordered(record, problems, chunksize=4):
                if isinstance(answers, str):
                    failed += 1
                    print(f"left out: {text}: {answers}", file=sys.stderr)
                else:
                    recorded[text] = answers
        except KeyboardInterrupt:
            pool.terminate()
    write_facts(recorded, sys.stdout)
    missing = len(problems) - len(recorded) - failed
    print(f"{len(recorded)} recorded, {failed} left out" + (f", {missing} not asked" if missing else ""),
          file=sys.stderr)
    return 130 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
