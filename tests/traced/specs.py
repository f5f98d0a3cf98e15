"""Tensors as torchmem's --input describes them."""

import torch

TYPES = {"f32": torch.float32, "i64": torch.int64, "bool": torch.bool}


def make_tensor(spec, device):
    """The tensor of DTYPE:DIMxDIM...[:FILL], made by the operators that torchmem makes it with."""
    dtype, shape, *fill = spec.split(":")
    sizes = [int(size) for size in shape.split("x")]
    options = dict(dtype=TYPES[dtype], device=device)
    word, _, number = (fill or [{"f32": "randn", "i64": "zeros", "bool": "value=1"}[dtype]])[0].partition("=")
    if word == "below":
        return torch.randint(0, int(number), sizes, **options)
    if word == "value":
        return torch.full(sizes, int(number), **options)
    return getattr(torch, word)(sizes, **options)
