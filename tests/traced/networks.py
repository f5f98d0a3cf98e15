"""The networks of the traced models that no library has: sizes that are computed, recurrent cells, volumes."""

import torch
import torch.nn.functional as F
from torch import nn


class Halves(nn.Module):
    """Pads by half of the length."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        hidden = self.linear(x)
        batch, length, width = hidden.shape
        return torch.cat([hidden, hidden.new_zeros(batch, length // 2, width)], 1)


class Windows(nn.Module):
    """Attention in windows: how many there are is computed from the length."""

    def __init__(self, width, window=32, heads=4):
        super().__init__()
        self.project = nn.Linear(width, 3 * width)
        self.window, self.heads = window, heads

    def forward(self, x):
        batch, length, width = x.shape
        count, head = length // self.window, width // self.heads
        parts = self.project(x).view(batch, count, self.window, 3, self.heads, head).permute(3, 0, 1, 4, 2, 5)
        q, k, v = parts.reshape(3, batch * count * self.heads, self.window, head).unbind(0)
        scores = (q @ k.transpose(1, 2) / head**0.5).softmax(-1)
        mixed = (scores @ v).reshape(batch, count, self.heads, self.window, head)
        return mixed.permute(0, 1, 3, 2, 4).reshape(batch, length, width)


class Encoder(nn.Module):
    def __init__(self, width, heads, hidden, layers):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, heads, hidden, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, x):
        return self.encoder(x)


class Resized(nn.Module):
    """Interpolates to one and a half times the size."""

    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3, padding=1)

    def forward(self, x):
        height, width = x.shape[2:]
        return self.conv(F.interpolate(x, size=(height * 3 // 2, width * 3 // 2), mode="bilinear"))


class SuperResolution(nn.Module):
    """Pads to whole blocks, shuffles pixels, cuts what was padded."""

    def __init__(self, channels=8, block=4):
        super().__init__()
        self.block = block
        self.first = nn.Conv2d(3, channels, 3, padding=1)
        self.last = nn.Conv2d(channels, 3 * 4, 3, padding=1)

    def forward(self, x):
        height, width = x.shape[2:]
        down, right = -height % self.block, -width % self.block
        x = F.pad(x, (0, right, 0, down), mode="reflect")
        x = F.pixel_shuffle(self.last(F.gelu(self.first(x))), 2)
        return x[:, :, : 2 * height, : 2 * width]


class Einsum(nn.Module):
    """Attention over both axes of an image, by einsum."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def attend(self, x):
        batch, rows, columns, width = x.shape
        parts = self.project(x).view(batch, rows, columns, 3, self.heads, width // self.heads)
        q, k, v = parts.unbind(3)
        scores = torch.einsum("brchd,brehd->brhce", q, k).softmax(-1)
        return torch.einsum("brhce,brehd->brchd", scores, v).reshape(batch, rows, columns, width)

    def forward(self, x):
        x = x + self.attend(x)
        return self.out(x + self.attend(x.transpose(1, 2)).transpose(1, 2))


class Translator(nn.Module):
    """nn.Transformer with masks and positions that are made as it runs."""

    def __init__(self, vocabulary, width, heads):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.transformer = nn.Transformer(width, heads, 2, 2, 2 * width, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, source, target):
        later = torch.ones_like(target[:1]).expand(target.size(1), -1).triu(1).bool()
        hidden = self.transformer(self.tokens(source), self.tokens(target), tgt_mask=later)
        return self.head(hidden)


class Attention(nn.Module):
    """nn.MultiheadAttention with keys of another width, bias_kv and weights given back."""

    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, 0.1, add_bias_kv=True, kdim=width // 2, vdim=width // 2)
        self.norm = nn.LayerNorm(width)

    def forward(self, query, memory):
        mixed, weights = self.attention(query, memory, memory)
        return self.norm(query + mixed), weights


class Lstm(nn.Module):
    def __init__(self, vocabulary, width, hidden):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, hidden, 2, batch_first=True, dropout=0.2)
        self.head = nn.Linear(hidden, vocabulary)

    def forward(self, ids):
        return self.head(self.lstm(self.tokens(ids))[0])


class BiLstm(nn.Module):
    """Bidirectional, with projections, pooled over time."""

    def __init__(self, width, hidden):
        super().__init__()
        self.lstm = nn.LSTM(width, hidden, 2, bidirectional=True, proj_size=hidden // 2)
        self.head = nn.Linear(hidden, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0].max(0)[0])


class BiGru(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gru = nn.GRU(width, hidden, 3, bidirectional=True, dropout=0.1)
        self.head = nn.Linear(2 * hidden, 40)

    def forward(self, frames):
        return self.head(self.gru(frames)[0]).log_softmax(-1)


class Cells(nn.Module):
    """A gated cell written out, in a loop over time that a trace unrolls."""

    def __init__(self, width, hidden):
        super().__init__()
        self.hidden = hidden
        self.inside, self.recurrent = nn.Linear(width, 3 * hidden), nn.Linear(hidden, 3 * hidden)

    def forward(self, x):
        state = x.new_zeros(x.size(0), self.hidden)
        outputs = []
        for frame in x.unbind(1):
            keep, reset, new = self.inside(frame).chunk(3, 1)
            kept, cleared, old = self.recurrent(state).chunk(3, 1)
            keep = torch.sigmoid(keep + kept)
            state = (1 - keep) * torch.tanh(new + torch.sigmoid(reset + cleared) * old) + keep * state
            outputs.append(state)
        return torch.stack(outputs, 1)


class Unet(nn.Module):
    """Pads each level to the size of the skip that it is joined with."""

    def __init__(self, channels, width, dimensions):
        super().__init__()
        conv = (nn.Conv2d, nn.Conv3d)[dimensions - 2]
        norm = (nn.BatchNorm2d, nn.BatchNorm3d)[dimensions - 2]
        transposed = (nn.ConvTranspose2d, nn.ConvTranspose3d)[dimensions - 2]
        self.pool = (nn.MaxPool2d, nn.MaxPool3d)[dimensions - 2](2)

        def block(inside, outside):
            return nn.Sequential(conv(inside, outside, 3, padding=1, bias=False), norm(outside), nn.ReLU(True))

        self.down = nn.ModuleList([block(channels, width), block(width, 2 * width)])
        self.bottom = block(2 * width, 4 * width)
        self.up = nn.ModuleList([transposed(4 * width, 2 * width, 2, 2), transposed(2 * width, width, 2, 2)])
        self.join = nn.ModuleList([block(4 * width, 2 * width), block(2 * width, width)])
        self.head = conv(width, 2, 1)

    def forward(self, x):
        skips = []
        for block in self.down:
            x = block(x)
            skips.append(x)
            x = self.pool(x)
        x = self.bottom(x)
        for up, join in zip(self.up, self.join):
            x, skip = up(x), skips.pop()
            pad = []
            for mine, its in zip(reversed(x.shape[2:]), reversed(skip.shape[2:])):
                pad += [(its - mine) // 2, (its - mine) - (its - mine) // 2]
            x = join(torch.cat([skip, F.pad(x, pad)], 1))
        return self.head(x)


class Denoiser(nn.Module):
    """A denoiser's step: sines of the time, group norms, attention at the bottom."""

    def __init__(self, width):
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2 * width))
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.Conv2d(width, 2 * width, 3, 2, 1)
        self.norm = nn.GroupNorm(4, 2 * width)
        self.attention = nn.MultiheadAttention(2 * width, 4, batch_first=True)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.last = nn.Conv2d(2 * width, 3, 3, padding=1)
        self.register_buffer("frequencies", torch.exp(-torch.arange(width // 2) * 0.1))

    def forward(self, x, time):
        angles = time[:, None] * self.frequencies
        moment = self.time(torch.cat([angles.sin(), angles.cos()], 1))
        wide = self.first(x)
        deep = F.silu(self.norm(self.down(wide) + moment[:, :, None, None]))
        batch, channels, height, width = deep.shape
        rows = deep.flatten(2).transpose(1, 2)
        rows = rows + self.attention(rows, rows, rows, need_weights=False)[0]
        deep = rows.transpose(1, 2).reshape(batch, channels, height, width)
        return self.last(torch.cat([wide, self.up(deep)], 1))


class Diffusion(nn.Module):
    """A U-Net with residual blocks of group norms and attention at the bottom."""

    def __init__(self, width):
        super().__init__()

        def block(inside, outside):
            return nn.Sequential(
                nn.GroupNorm(8, inside), nn.SiLU(), nn.Conv2d(inside, outside, 3, padding=1),
                nn.GroupNorm(8, outside), nn.SiLU(), nn.Conv2d(outside, outside, 3, padding=1),
            )  # fmt: skip

        self.first = nn.Conv2d(4, width, 3, padding=1)
        self.top, self.to_middle = block(width, width), nn.Conv2d(width, 2 * width, 3, 2, 1)
        self.middle, self.to_bottom = block(2 * width, 2 * width), nn.Conv2d(2 * width, 4 * width, 3, 2, 1)
        self.bottom = block(4 * width, 4 * width)
        self.attention = nn.MultiheadAttention(4 * width, 4, batch_first=True)
        self.from_bottom, self.middle_out = nn.ConvTranspose2d(4 * width, 2 * width, 4, 2, 1), block(4 * width,
                                                                                                     2 * width)
        self.larger, self.from_middle = nn.Upsample(scale_factor=2, mode="nearest"), nn.Conv2d(2 * width, width, 3,
                                                                                               padding=1)
        self.top_out, self.last = block(2 * width, width), nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, x):
        top = self.first(x)
        top = top + self.top(top)
        middle = self.to_middle(top)
        middle = middle + self.middle(middle)
        bottom = self.to_bottom(middle)
        bottom = bottom + self.bottom(bottom)
        rows = bottom.flatten(2).transpose(1, 2)
        mixed = self.attention(rows, rows, rows, need_weights=False)[0]
        bottom = bottom + mixed.transpose(1, 2).reshape(bottom.shape)
        middle = self.middle_out(torch.cat([self.from_bottom(bottom), middle], 1))
        return self.last(self.top_out(torch.cat([self.from_middle(self.larger(middle)), top], 1)))


class Warp(nn.Module):
    """A spatial transformer: affine_grid and grid_sample."""

    def __init__(self):
        super().__init__()
        self.locate = nn.Sequential(nn.Conv2d(3, 8, 7, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
                                    nn.Linear(128, 6))
        self.conv = nn.Conv2d(3, 16, 3)

    def forward(self, x):
        grid = F.affine_grid(self.locate(x).view(-1, 2, 3), x.size(), align_corners=False)
        return self.conv(F.grid_sample(x, grid, align_corners=False))


class Patches(nn.Module):
    """unfold, a mixing of each patch, fold back."""

    def __init__(self, channels, patch):
        super().__init__()
        self.patch = patch
        self.mix = nn.Linear(channels * patch * patch, channels * patch * patch)

    def forward(self, x):
        height, width = x.shape[2:]
        columns = F.unfold(x, self.patch, stride=self.patch)
        columns = columns + self.mix(columns.transpose(1, 2)).transpose(1, 2)
        return F.fold(columns, (height, width), self.patch, stride=self.patch)


class Tcn(nn.Module):
    """Dilated convolutions whose right end is cut to the length, with weight norm."""

    def __init__(self, channels, layers):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.utils.parametrizations.weight_norm(nn.Conv1d(channels, channels, 3, padding=2 << i, dilation=1 << i))
            for i in range(layers)
        )

    def forward(self, x):
        length = x.shape[-1]
        for layer in self.layers:
            x = x + F.dropout(F.relu(layer(x)[..., :length]), 0.1, self.training)
        return x


class Recommender(nn.Module):
    """Embedding bags and the products of all pairs, as in click prediction."""

    def __init__(self, rows, width, tables):
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(rows, width) for _ in range(tables))
        self.dense = nn.Sequential(nn.Linear(13, width), nn.ReLU())
        self.register_buffer("pairs", torch.tril_indices(tables + 1, tables + 1, -1))
        self.top = nn.Sequential(nn.Linear(width + self.pairs.size(1), 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, numbers, ids):
        dense = self.dense(numbers)
        parts = torch.stack([dense] + [bag(ids[:, i]) for i, bag in enumerate(self.bags)], 1)
        products = (parts @ parts.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        return torch.sigmoid(self.top(torch.cat([dense, products], 1)))


class First(nn.Module):
    """The first tensor of what another network gives back, or the one of that name."""

    def __init__(self, network, name=None):
        super().__init__()
        self.network, self.name = network, name

    def forward(self, *arguments):
        result = self.network(*arguments)
        return result[self.name] if self.name else result[0]


class Called(nn.Module):
    """A network of transformers, called with its arguments by name; the first tensor of its result."""

    def __init__(self, network, arguments):
        super().__init__()
        self.network, self.arguments = network, arguments

    def forward(self, *values):
        return self.network(**dict(zip(self.arguments, values)), return_dict=False)[0]


class Pyramid(nn.Module):
    """A detector's backbone and the head that slides over its levels."""

    def __init__(self, backbone, channels, anchors):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Conv2d(channels, channels, 3, padding=1)
        self.scores, self.boxes = nn.Conv2d(channels, anchors, 1), nn.Conv2d(channels, 4 * anchors, 1)

    def forward(self, x):
        rows = []
        for level in self.backbone(x).values():
            hidden = self.head(level).relu()
            both = torch.cat([self.scores(hidden)[:, :, None], self.boxes(hidden).unflatten(1, (-1, 4))], 2)
            rows.append(both.permute(0, 3, 4, 1, 2).flatten(1, 3))
        return torch.cat(rows, 1)
