#!/usr/bin/env python3
"""Makes the TorchScript models of the tests.

    make_models.py DIR [NAME...]

Writes DIR/NAME.pt for each name, or for all of them; a file that is there is kept. Needs torch and, for the names of
torchvision's models, torchvision, for bert transformers. No GPU is used; on a machine without the vendor's libraries,
run it with `torchmem run --device virtual:h200 -- python3 make_models.py DIR`.
"""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import torch
from torch import nn

TORCHVISION = (
    "alexnet convnext_tiny densenet121 mobilenet_v2 resnet18 resnet50 swin_t vgg11 vgg16 vit_b_16".split()
)


class Decoder(nn.Module):
    """A GPT-2 kind of decoder of PyTorch's own encoder layers, with a causal mask that it builds as it runs."""

    def __init__(self, width=768, heads=12, layers=12, vocabulary=50257, length=1024):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 4 * width, 0.1, "gelu", batch_first=True, norm_first=True)
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        positions = torch.arange(ids.size(1), device=ids.device)
        hidden = self.tokens(ids) + self.positions(positions)
        mask = torch.full((ids.size(1), ids.size(1)), float("-inf"), device=ids.device).triu(1)
        for block in self.blocks:
            hidden = block(hidden, mask)
        return self.head(self.norm(hidden))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(10000, 512)
        self.lstm = nn.LSTM(512, 1024, 2, batch_first=True, dropout=0.2)
        self.head = nn.Linear(1024, 10000)

    def forward(self, ids):
        hidden, _ = self.lstm(self.tokens(ids))
        return self.head(hidden)


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.GroupNorm(8, 64), nn.SiLU())
        self.pool = nn.MaxPool2d(2)
        self.second = nn.Sequential(nn.Conv2d(64, 128, 3, padding=1), nn.BatchNorm2d(128), nn.ReLU(True))
        self.up = nn.ConvTranspose2d(128, 64, 2, 2)
        self.last = nn.Conv2d(128, 10, 1)
        self.dropout = nn.Dropout(0.1)

    def forward(self, images):
        wide = self.first(images)
        deep = self.up(self.second(self.pool(wide)))
        return self.dropout(self.last(torch.cat([wide, deep], 1)))


def mlp():
    return nn.Sequential(
        nn.Linear(784, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 10)
    )


def four_linears():
    return nn.Sequential(*(nn.Linear(4096, 4096, bias=False) for _ in range(4)))


def dcgan():
    layers = [nn.ConvTranspose2d(100, 512, 4, 1, 0, bias=False), nn.BatchNorm2d(512), nn.ReLU(True)]
    for channels in (512, 256):
        layers += [
            nn.ConvTranspose2d(channels, channels // 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(channels // 2),
            nn.ReLU(True),
        ]
    return nn.Sequential(*layers, nn.ConvTranspose2d(128, 3, 4, 2, 1), nn.Tanh())


def chain(activation):
    """Eight layers whose activation is all that differs."""
    return nn.Sequential(*(nn.Sequential(nn.Linear(256, 256), activation()) for _ in range(8)))


class Group(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(layers)))

    def forward(self, x):
        return self.layers(x)


def deep(groups):
    """As many groups of equal layers as each has layers: what checkpointing is at its best with."""
    return nn.Sequential(*(Group(groups) for _ in range(groups)))


class Bert(nn.Module):
    """BERT base. Mask and positions are tensors: what a trace works out on the host, it would copy from the device."""

    def __init__(self):
        from transformers import BertConfig, BertModel

        super().__init__()
        self.bert = BertModel(BertConfig(), add_pooling_layer=False)
        self.register_buffer("positions", torch.arange(512)[None])

    def forward(self, ids, mask):
        positions = self.positions[:, : ids.size(1)]
        shown = mask[:, None, None, :].expand(-1, 1, mask.size(1), -1)
        return self.bert(ids, attention_mask=shown, position_ids=positions, return_dict=False)[0]


def bert():
    """Traced, for it cannot be scripted. A trace has no switch for dropout, which is left out; the weights are
    zeros.
    """
    model = Bert().eval()
    for parameter in model.parameters():
        parameter.data.zero_()
    return torch.jit.trace(model, (torch.zeros(2, 8, dtype=torch.long), torch.ones(2, 8, dtype=torch.bool)))


def torchvision_model(name):
    import torchvision

    return getattr(torchvision.models, name)()


MODELS = {
    "transformer": lambda: Decoder(width=32, heads=4, layers=2, vocabulary=1000, length=128),
    "gpt_small": lambda: Decoder(width=256, heads=8, layers=4, vocabulary=8000),
    "gpt2like": Decoder,
    "lstm": Lstm,
    "unet": Unet,
    "mlp": mlp,
    "dcgan": dcgan,
    "four_linears": four_linears,
    "relu_chain": lambda: chain(nn.ReLU),
    "leaky_relu_chain": lambda: chain(nn.LeakyReLU),
    "gelu_chain": lambda: chain(nn.GELU),
    "deep_16": lambda: deep(4),
    "deep_64": lambda: deep(8),
    "deep_256": lambda: deep(16),
    "bert": bert,
    **{name: lambda name=name: torchvision_model(name) for name in TORCHVISION},
}


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder, names = Path(sys.argv[1]), sys.argv[2:] or list(MODELS)
    unknown = [name for name in names if name not in MODELS]
    if unknown:
        sys.exit(f"no such model: {', '.join(unknown)}; there are {', '.join(MODELS)}")
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = folder / f"{name}.pt"
        if path.exists():
            continue
        torch.manual_seed(0)
        unfinished = folder / f"{name}.{os.getpid()}.unfinished"
        model = MODELS[name]()
        if not isinstance(model, torch.jit.ScriptModule):
            model = torch.jit.script(model)
        model.save(str(unfinished))
        if name == "bert":  # 436 MB, nearly all of them zeros: with holes in their place, 1 MB on disk
            whole = unfinished.rename(unfinished.with_suffix(".whole"))
            subprocess.run(["cp", "--sparse=always", whole, unfinished], check=True)
            whole.unlink()
        unfinished.rename(path)
        print(path, file=sys.stderr)


if __name__ == "__main__":
    main()
