"""Writes a decoder of 6.7 billion parameters in half precision as a TorchScript file, without 13 GB of memory or disk.

    torchmem run --device virtual:h200 -- python3 bench/decoder.py FILE.pt

The weights live on the virtual GPU, which holds nothing; they are saved one at a time, as zeros, through a pipe whose
reader leaves holes in the file where it finds only zeros.
"""

import os
import sys

import torch
from torch import nn

WIDTH, HEADS, LAYERS, HIDDEN, VOCABULARY = 4096, 32, 32, 11008, 32000
CHUNK = 1 << 16  # what a pipe holds


class Norm(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))

    def forward(self, x):
        scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)
        return (x.float() * scale).to(x.dtype) * self.weight


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention, self.before_mlp = Norm(WIDTH), Norm(WIDTH)
        self.query, self.key = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.value, self.output = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate, self.up = nn.Linear(WIDTH, HIDDEN, bias=False), nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)
        self.heads = HEADS

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def forward(self, x):
        h = self.before_attention(x)
        q, k, v = self.split(self.query(h)), self.split(self.key(h)), self.split(self.value(h))
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(attended.transpose(1, 2).flatten(2))
        h = self.before_mlp(x)
        return x + self.down(nn.functional.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.norm = Norm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, ids):
        x = self.tokens(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def write_with_holes(source, path):
    zeros = bytes(CHUNK)
    size = 0
    with open(source, "rb", buffering=0) as pipe, open(path, "wb") as file:
        while piece := pipe.read(CHUNK):
            if piece == zeros[: len(piece)]:
                file.seek(len(piece), os.SEEK_CUR)
            else:
                file.write(piece)
            size += len(piece)
        file.truncate(size)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    path = sys.argv[1]
    pipe = f"{path}.pipe"
    os.mkfifo(pipe)
    try:
        # A process, as save() keeps Python's lock while it waits for the pipe, and made before CUDA is used.
        reader = os.fork()
        if reader == 0:
            write_with_holes(pipe, path)
            os._exit(0)
        torch.set_default_dtype(torch.float16)
        torch.set_default_device("cuda")
        model = torch.jit.script(Decoder())
        count = sum(parameter.numel() for parameter in model.parameters())
        model.save(pipe)
        if os.waitpid(reader, 0)[1] != 0:
            sys.exit(f"{path} could not be written")
    finally:
        os.unlink(pipe)
    print(f"{path}: {count:,} parameters, {os.path.getsize(path):,} B, {os.stat(path).st_blocks * 512:,} B on disk")


if __name__ == "__main__":
    main()
