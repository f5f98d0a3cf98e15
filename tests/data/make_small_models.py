#!/usr/bin/env python3
"""Makes the small models of the command-line tests: frozen.pt, quantized.pt, methods.pt, arguments.pt, blocks.pt,
linears.pt, noisy.pt, activations.pt, functionals.pt, and tensor.pt, an input; and those whose every activation is
written out in a test: small_mlp.pt, small_convolutions.pt, small_attention.pt, small_lstm.pt.

    make_small_models.py DIR

Needs torch. No GPU is used; on a machine without the vendor's libraries, run it with
`torchmem run --device virtual:h200 -- python3 make_small_models.py DIR`.
"""

import sys
import warnings
from pathlib import Path
from typing import List, Optional, Tuple

import torch
from torch import nn


class Methods(nn.Module):
    """Has no forward."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    @torch.jit.export
    def encode(self, x: torch.Tensor):
        return self.layer(x)

    @torch.jit.export
    def decode(self, x: torch.Tensor, times: int = 2):
        return self.layer(x) * times


class Arguments(nn.Module):
    """Takes every kind of argument, and returns a named tensor beside an unnamed one."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(
        self,
        x: torch.Tensor,
        pair: Tuple[torch.Tensor, int],
        items: List[torch.Tensor],
        mask: Optional[torch.Tensor] = None,
        scale: float = 1.0,
        double: bool = False,
        kind: str = "plain",
        sizes: Optional[List[int]] = None,
    ):
        y = self.layer(x) + pair[0] * pair[1]
        for item in items:
            y = y + item
        if mask is not None:
            y = y * mask
        if double:
            y = torch.cat([y, y])
        if sizes is not None:
            y = y.reshape(sizes)
        if kind == "wide":
            y = torch.cat([y, y], 1)
        return y * scale, y.sum()


class Scale(nn.Module):
    """Keeps its result for backward (tanh), and its input (the product)."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(1024) + 0.5)

    def forward(self, x):
        return torch.tanh(x * self.weight)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Scale()
        self.second = Scale()

    def forward(self, x):
        return self.second(self.first(x))


class Blocks(nn.Module):
    """Four blocks of one class, the last two inside another module."""

    def __init__(self):
        super().__init__()
        self.early = nn.ModuleList([Block(), Block()])
        self.late = nn.Sequential(Block(), Block())

    def forward(self, x):
        for block in self.early:
            x = block(x)
        return self.late(x)


class Linears(nn.Module):
    """Small weights for large activations, in products that autocast runs in half precision."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(64, 64, bias=False) for _ in range(4)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x


class NoisyBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return x + self.dropout(torch.relu(self.layer(x)))


class Noisy(nn.Module):
    """Its blocks draw random numbers, and take and return more than one tensor."""

    def __init__(self):
        super().__init__()
        self.first = NoisyBlock()
        self.second = NoisyBlock()
        self.pairs = Pairs()

    def forward(self, x):
        return self.pairs(self.second(self.first(x)), [x, x + 1])


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, x, others: List[torch.Tensor]) -> Tuple[torch.Tensor, List[torch.Tensor]]:
        y = self.layer(x) * others[0]
        return y, [y + others[1], others[0] * 2]


class Activations(nn.Module):
    """One activation whose input nobody else needs, one behind an operator that keeps its result for backward, one
    whose input is used again, one of the model's input, and one that is in place."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(1024) + 0.5)
        self.inplace = nn.ReLU(inplace=True)

    def forward(self, x):
        y = nn.functional.relu(torch.tanh(x * self.weight))
        z = y * self.weight
        return self.inplace(nn.functional.silu(z) + z + torch.relu(x))


class Functionals(nn.Module):
    """Calls functions straight from forward, a line each; the last with an argument on a line of its own."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)

    def forward(self, x: torch.Tensor):
        h = nn.functional.relu(self.layer(x))
        h = nn.functional.silu(h * 2.0)
        h = nn.functional.pad(h, [1, 1])
        h = nn.functional.softmax(h, -1)
        waves = torch.stft(h[0], 32, window=torch.ones(32, device=h.device), return_complex=True)
        far = torch.cdist(
            h,
            h + 1.0,
        )
        return far, torch.view_as_real(waves)


class Attention(nn.Module):
    """One head, written out."""

    def __init__(self, width: int):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor):
        scores = torch.bmm(self.query(x), self.key(x).transpose(1, 2))
        weights = torch.softmax(scores, -1)
        return self.out(torch.bmm(weights, self.value(x)))


class Recurrent(nn.Module):
    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.lstm = nn.LSTM(width, hidden)
        self.out = nn.Linear(hidden, 4)

    def forward(self, x: torch.Tensor):
        steps, _ = self.lstm(x)
        return self.out(steps)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    torch.jit.freeze(torch.jit.script(layers.eval())).save(str(folder / "frozen.pt"))
    quantized = torch.ao.quantization.quantize_dynamic(layers, {nn.Linear}, dtype=torch.qint8)
    torch.jit.script(quantized).save(str(folder / "quantized.pt"))
    torch.jit.script(Methods()).save(str(folder / "methods.pt"))
    torch.jit.script(Arguments()).save(str(folder / "arguments.pt"))
    torch.jit.script(Blocks()).save(str(folder / "blocks.pt"))
    torch.jit.script(Linears()).save(str(folder / "linears.pt"))
    torch.jit.script(Noisy()).save(str(folder / "noisy.pt"))
    torch.jit.script(Activations()).save(str(folder / "activations.pt"))
    torch.jit.script(Functionals()).save(str(folder / "functionals.pt"))
    small = {
        "mlp": nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32)),
        "convolutions": nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                                      nn.Conv2d(8, 4, 3, padding=1)),
        "attention": Attention(64),
        "lstm": Recurrent(32, 64),
    }
    for name, model in small.items():
        torch.jit.script(model).save(str(folder / f"small_{name}.pt"))
    torch.save(torch.ones(8, 16), folder / "tensor.pt")


if __name__ == "__main__":
    main()
