"""Layers, losses, optimizers and linear algebra, most of which have kernels of their own on a GPU: results, gradients
and what they keep, on the device against the CPU.

    torchmem run --device virtual:h200 -- python3 layers.py [NAME...]

Each runs on "cpu" and on "cuda" from the same small tensors. Sums may be in another order, so floats need only be near;
integers and sizes must be equal. Exit code 1 when one differs.
"""

import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

warnings.simplefilter("ignore")
checks = {}


def check(function):
    checks[function.__name__] = function
    return function


def module(name, make, *shape, loss=None, kept=()):
    """Checks a module's output, what it keeps, and every gradient."""

    def run(device):
        layer, x = make().to(device), torch.randn(shape).to(device).requires_grad_()
        output = layer(x)
        (loss(output, device) if loss else output.square().sum()).backward()
        return [output, x.grad, *(p.grad for p in layer.parameters()), *(getattr(layer, name) for name in kept)]

    checks[name] = run


def recurrent(name, make, packed=False):
    def run(device):
        layer, x = make().to(device), torch.randn(5, 3, 2).to(device).requires_grad_()
        output, state = layer(pack_padded_sequence(x, torch.tensor([5, 3, 2])) if packed else x)
        output = output.data if packed else output
        state = state if isinstance(state, tuple) else (state,)
        loss = output.square().sum() + state[0].sum()
        return [output, *state, *torch.autograd.grad(loss, [x, *layer.parameters()])]

    checks[name] = run


def attention(name, dtype=torch.float32, mask=None, gradients=True, **options):
    def run(device):
        q, k, v = (torch.randn(2, 2, 6, 8).to(device, dtype).requires_grad_(gradients) for _ in range(3))
        visible = (torch.arange(6) < torch.tensor([[6], [3]]))[:, None, None].expand(2, 1, 6, 6)
        added = torch.zeros(2, 1, 6, 6, dtype=dtype).masked_fill(~visible, torch.finfo(dtype).min)
        given = {"bool": visible, "float": added}[mask].to(device) if mask else None
        output = F.scaled_dot_product_attention(q, k, v, attn_mask=given, **options)
        return [output, *(torch.autograd.grad(output.square().sum(), (q, k, v)) if gradients else ())]

    checks[name] = run


def optimizer(name, make, steps=3):
    def run(device):
        weights = [nn.Parameter(torch.randn(4, 3).to(device)), nn.Parameter(torch.randn(3).to(device))]
        made = make(weights)
        for _ in range(steps):
            made.zero_grad()
            sum(weight.square().sum() for weight in weights).backward()
            made.step()
        state = [value for each in made.state.values() for value in each.values() if isinstance(value, torch.Tensor)]
        return [*weights, *state]

    checks[name] = run


def target_of(output, device):
    return torch.arange(output.shape[0], device=device) % output.shape[1]


module("linear", lambda: nn.Linear(4, 3), 5, 4)
module("linear_without_bias", lambda: nn.Linear(4, 3, bias=False), 2, 5, 4)
module("bilinear", lambda: nn.Sequential(nn.Flatten(), nn.Linear(12, 5), nn.GELU(), nn.Linear(5, 2)), 3, 4, 3)
module("convolution_1d", lambda: nn.Conv1d(3, 4, 3), 2, 3, 9)
module("convolution_2d", lambda: nn.Conv2d(1, 8, 3, padding=1), 4, 1, 8, 8)
module("convolution_2d_without_bias", lambda: nn.Conv2d(3, 4, 3, stride=2, bias=False), 2, 3, 7, 7)
module("convolution_2d_channels_last", lambda: nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last), 2, 3, 7, 7)
module("convolution_3d", lambda: nn.Conv3d(1, 2, 2), 1, 1, 4, 4, 4)
module("convolution_depthwise", lambda: nn.Conv2d(4, 4, 3, groups=4), 2, 4, 6, 6)
module("convolution_dilated", lambda: nn.Conv2d(2, 2, 3, dilation=2), 1, 2, 8, 8)
module("convolution_transposed", lambda: nn.ConvTranspose2d(3, 4, 2, 2), 2, 3, 5, 5)
module("batch_norm_1d", lambda: nn.BatchNorm1d(3), 4, 3, kept=("running_mean", "running_var", "num_batches_tracked"))
module("batch_norm_2d", lambda: nn.BatchNorm2d(3), 4, 3, 5, 5, kept=("running_mean", "running_var"),
       loss=lambda y, d: (y**3).sum())
module("batch_norm_of_evaluation", lambda: nn.BatchNorm2d(3).eval(), 4, 3, 5, 5)
module("instance_norm", lambda: nn.InstanceNorm2d(3, affine=True), 2, 3, 4, 4, loss=lambda y, d: (y**3).sum())
module("group_norm", lambda: nn.GroupNorm(2, 4), 5, 4, 3, loss=lambda y, d: (y**3).sum())
module("layer_norm", lambda: nn.LayerNorm(4), 5, 4, loss=lambda y, d: (y**3).sum())
module("rms_norm", lambda: nn.RMSNorm(4), 5, 4, loss=lambda y, d: (y**3).sum())
module("local_response_norm", lambda: nn.LocalResponseNorm(2), 2, 4, 5, 5)
for pool in (nn.MaxPool2d(2), nn.MaxPool2d(3, 2, 1), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(2), nn.AdaptiveMaxPool2d(2),
             nn.LPPool2d(2, 2)):
    module(str(pool), lambda pool=pool: pool, 2, 3, 6, 6)
for activation in (
    nn.ReLU, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Tanh, nn.Softplus, nn.ELU, nn.LeakyReLU, nn.PReLU, nn.Hardswish, nn.Mish,
    nn.GLU,
    nn.LogSigmoid, nn.Softsign, nn.Hardtanh,
):  # fmt: skip
    module(activation.__name__, activation, 5, 4)
module("softmax", lambda: nn.Softmax(-1), 5, 4)
module("log_softmax", lambda: nn.LogSoftmax(1), 5, 4, 3)
for mode in ("nearest", "bilinear", "bicubic"):
    module(f"upsample_{mode}", lambda mode=mode: nn.Upsample(scale_factor=2, mode=mode), 1, 2, 3, 3)
module("pixel_shuffle", lambda: nn.PixelShuffle(2), 1, 4, 3, 3)
module("reflection_pad", lambda: nn.ReflectionPad2d(1), 1, 2, 4, 4)
module("unfold", lambda: nn.Unfold(2), 1, 2, 4, 4)
module("cross_entropy", lambda: nn.Linear(4, 3), 5, 4,
       loss=lambda y, d: F.cross_entropy(y, target_of(y, d), label_smoothing=0.1))
module("cross_entropy_ignoring", lambda: nn.Linear(4, 3), 5, 4,
       loss=lambda y, d: F.cross_entropy(y, target_of(y, d), ignore_index=1))
module(
    "nll_2d", lambda: nn.Conv2d(2, 3, 1), 2, 2, 4, 4,
    loss=lambda y, d: F.cross_entropy(y, torch.zeros(2, 4, 4, dtype=torch.long, device=d))
)
module("binary_cross_entropy", lambda: nn.Linear(4, 1), 5, 4,
       loss=lambda y, d: F.binary_cross_entropy(y.sigmoid(), torch.ones_like(y)))
module("binary_with_logits", lambda: nn.Linear(4, 1), 5, 4,
       loss=lambda y, d: F.binary_cross_entropy_with_logits(y, torch.ones_like(y)))
for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "soft_margin_loss"):
    module(name, lambda: nn.Linear(4, 2), 5, 4,
           loss=lambda y, d, name=name: getattr(F, name)(y, torch.full_like(y, 0.5)))
module("multi_margin_loss", lambda: nn.Linear(4, 3), 5, 4, loss=lambda y, d: F.multi_margin_loss(y, target_of(y, d)))
module(
    "cosine_embedding_loss", lambda: nn.Linear(4, 3), 5, 4,
    loss=lambda y, d: F.cosine_embedding_loss(y, y.flip(0), torch.ones(5, device=d))
)
module("ctc_loss", lambda: nn.Linear(4, 5), 6, 2, 4, loss=lambda y, d: F.ctc_loss(
    y.log_softmax(-1), torch.ones(2, 2, dtype=torch.long, device=d), torch.tensor([6, 5]), torch.tensor([2, 2])))
recurrent("rnn", lambda: nn.RNN(2, 4, bidirectional=True))
recurrent("gru", lambda: nn.GRU(2, 4))
recurrent("gru_packed", lambda: nn.GRU(2, 4, bidirectional=True), packed=True)
recurrent("lstm", lambda: nn.LSTM(2, 4, 2))
recurrent("lstm_packed", lambda: nn.LSTM(2, 4), packed=True)
recurrent("lstm_projected", lambda: nn.LSTM(2, 4, proj_size=3))
attention("attention")
attention("attention_without_gradients", gradients=False)
attention("attention_bool_mask", mask="bool")
attention("attention_float_mask", mask="float")
attention("attention_float_mask_without_gradients", mask="float", gradients=False)
attention("attention_causal", is_causal=True)
attention("attention_bf16", dtype=torch.bfloat16)
attention("attention_bf16_causal_without_gradients", dtype=torch.bfloat16, is_causal=True, gradients=False)
attention("attention_f16_mask", dtype=torch.float16, mask="float")
for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop"):
    for options in ({"foreach": True}, {"foreach": False}):
        optimizer(f"{name}_{options['foreach']}", lambda w, n=name, o=options: getattr(torch.optim, n)(w, lr=0.1, **o))
for name in ("SGD", "Adam", "AdamW"):
    optimizer(f"{name}_fused", lambda w, n=name: getattr(torch.optim, n)(w, lr=0.1, fused=True))
optimizer("momentum", lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01))
optimizer("amsgrad", lambda w: torch.optim.AdamW(w, lr=0.1, amsgrad=True))
optimizer("adafactor", lambda w: torch.optim.Adafactor(w))
optimizer("lr_tensor", lambda w: torch.optim.Adam(w, lr=torch.tensor(0.1, device=w[0].device), foreach=False))


@check
def embedding(device):
    layer, index = nn.Embedding(6, 3, padding_idx=0).to(device), torch.tensor([[1, 0, 5], [1, 1, 2]], device=device)
    output = layer(index)
    return [output, torch.autograd.grad(output.square().sum(), layer.weight)[0]]


@check
def embedding_bag(device):
    layer, found = nn.Parameter(torch.randn(6, 3).to(device)), []
    for mode in ("sum", "mean", "max"):
        out = F.embedding_bag(torch.tensor([1, 4, 1, 5], device=device), layer, torch.tensor([0, 3], device=device),
                              mode=mode)
        found += [out, torch.autograd.grad(out.square().sum(), layer)[0]]
    return found


@check
def cells(device):
    x = torch.randn(2, 3).to(device)
    return [nn.GRUCell(3, 4).to(device)(x), *nn.LSTMCell(3, 4).to(device)(x), nn.RNNCell(3, 4).to(device)(x)]


@check
def multihead_attention(device):
    layer, x = nn.MultiheadAttention(8, 2, batch_first=True).to(device), torch.randn(2, 4, 8).to(device)
    padding = (torch.arange(4) > 2).expand(2, 4).to(device)
    found = [layer(x, x, x)[0], layer(x, x, x, key_padding_mask=padding)[1]]
    layer.eval()
    with torch.no_grad():
        return [*found, layer(x, x, x)[0], layer(x, x, x, key_padding_mask=padding, need_weights=False)[0]]


@check
def transformer_encoder(device):
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2).to(device).eval()
    x, padding = torch.randn(2, 4, 8).to(device), torch.tensor([[False] * 4, [False, False, True, True]], device=device)
    with torch.no_grad():
        return [model(x), model(x, src_key_padding_mask=padding), model(x, src_key_padding_mask=padding.flip(1))]


@check
def nested_tensor(device):
    x, mask = torch.randn(2, 4, 8).to(device), torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]], device=device).bool()
    nested = torch._nested_tensor_from_mask(x, mask)
    jagged = torch.nested.nested_tensor([x[0, :3], x[1, :2]], layout=torch.jagged)
    return [nested.to_padded_tensor(0.0), *nested.unbind(), jagged.values() * 2, jagged.offsets()]


@check
def grid_sample(device):
    grid = F.affine_grid(torch.tensor([[[1.0, 0.1, 0], [0, 0.9, 0.2]]]).to(device), [1, 1, 4, 4], align_corners=False)
    x = torch.randn(1, 1, 4, 4).to(device).requires_grad_()
    output = F.grid_sample(x, grid, align_corners=False)
    return [grid, output, torch.autograd.grad(output.square().sum(), x)[0]]


@check
def grouped_product(device):
    ends = torch.tensor([2, 6], dtype=torch.int32, device=device)
    x, weight = torch.randn(6, 16).to(device, torch.bfloat16), torch.randn(2, 16, 16).to(device, torch.bfloat16)
    return [torch._grouped_mm(x, weight, offs=ends)]


@check
def products(device):
    a, b = torch.randn(3, 4).to(device).requires_grad_(), torch.randn(4, 5).to(device)
    batch = torch.randn(2, 3, 4).to(device)
    out = [a @ b, torch.addmm(torch.ones(5, device=device), a, b), batch @ b, torch.bmm(batch, batch.mT), a.T @ a,
           a @ b[:, 0]]
    out += [torch.einsum("ij,kj->ik", a, a), torch.baddbmm(batch @ batch.mT, batch, batch.mT), torch.dot(b[0], b[1])]
    return [*out, torch.autograd.grad(sum(each.sum() for each in out[:2]), a)[0], (a.half() @ b.half()).float()]


@check
def linear_algebra(device):
    spd = torch.tensor([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]]).to(device)
    found = [torch.linalg.inv(spd), torch.linalg.eigvalsh(spd), torch.linalg.cholesky(spd), torch.linalg.svdvals(spd)]
    found += [torch.linalg.solve(spd, spd[0]), torch.linalg.det(spd), torch.linalg.qr(spd).R.abs(),
              torch.linalg.pinv(spd)]
    found += [torch.linalg.lstsq(spd, spd[:, :1]).solution, torch.linalg.matrix_norm(spd),
              torch.linalg.matrix_rank(spd)]
    found += [torch.linalg.slogdet(spd)[1], torch.linalg.matrix_power(spd, 3), torch.linalg.eigh(spd).eigenvalues]
    return [*found, torch.linalg.solve_triangular(spd.triu(), spd, upper=True), torch.linalg.lu_factor(spd).pivots]


@check
def fourier(device):
    x = torch.randn(2, 8).to(device)
    spectrum = torch.stft(x, 4, 2, window=torch.hann_window(4, device=device), return_complex=True)
    return [torch.fft.rfft(x).abs(), torch.fft.fft2(x).real, torch.fft.irfft(torch.fft.rfft(x)), spectrum.abs()]


@check
def sparse_tensors(device):
    index = torch.tensor([[0, 0, 1, 0], [1, 1, 2, 0]], device=device)
    matrix = torch.sparse_coo_tensor(index, torch.arange(1.0, 5, device=device), (3, 3)).coalesce()
    rows = matrix.to_dense().to_sparse_csr()
    dense = torch.eye(3, device=device) * 2
    return [
        torch.tensor(matrix._nnz()),
        matrix.indices(),
        matrix.values(),
        rows.crow_indices(),
        torch.sparse.mm(matrix, dense),
        rows @ dense,
    ]


@check
def gradient_scaling(device):
    found = []
    scaler = torch.amp.GradScaler(device, init_scale=8.0, growth_interval=2)
    weight = nn.Parameter(torch.ones(3, device=device))
    made = torch.optim.SGD([weight], lr=0.1)
    for factor in (1.0, float("inf"), 1.0, 1.0):
        made.zero_grad()
        scaler.scale((weight * factor).sum()).backward()
        scaler.unscale_(made)
        nn.utils.clip_grad_norm_([weight], 1.0)
        scaler.step(made)
        scaler.update()
        found += [weight.detach().clone(), torch.tensor(scaler.get_scale())]
    return found


@check
def clipping(device):
    weights = [nn.Parameter(torch.randn(4).to(device)) for _ in range(3)]
    found = []
    for options in ({}, {"norm_type": 1}, {"norm_type": float("inf")}, {"foreach": False}):
        for weight in weights:
            weight.grad = weight.detach() * 9
        found += [nn.utils.clip_grad_norm_(weights, 1.0, **options), *(weight.grad.clone() for weight in weights)]
    nn.utils.clip_grad_value_(weights, 0.01)
    return [*found, *(weight.grad for weight in weights)]


@check
def autocast(device):
    layer, x = nn.Linear(4, 4).to(device), torch.randn(3, 4).to(device)
    with torch.autocast(device, torch.bfloat16):
        output = layer(x)
        loss = F.mse_loss(output.float(), x)
    loss.backward()
    return [output.float(), loss, layer.weight.grad]


@check
def checkpointing(device):
    layer, x = nn.Sequential(nn.Linear(4, 4), nn.Tanh()).to(device), torch.randn(3, 4).to(device).requires_grad_()
    output = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
    return [output, *torch.autograd.grad(output.square().sum(), [x, *layer.parameters()])]


@check
def vectorized_and_functional(device):
    x = torch.randn(3, 4).to(device)
    jacobian = torch.func.jacrev(lambda v: v.sin().cumsum(0))(x[0])
    return [
        torch.vmap(lambda v: v / v.norm())(x),
        jacobian,
        torch.func.grad(lambda v: (v**3).sum())(x),
        torch.func.hessian(lambda v: (v**3).sum())(x[0]),
    ]


@check
def weight_transformations(device):
    layer, x = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)).to(device), torch.randn(2, 4).to(device)
    return [layer(x), torch.autograd.grad(layer(x).square().sum(), layer.parametrizations.weight.original0)[0]]


@check
def integers_only_on_a_gpu(device):
    """What the CPU has for floats alone."""
    x = torch.tensor([3, 0, 2, 3, 1], device=device)
    numbers = x.float() if device == "cpu" else x.int()
    return [torch.histc(numbers, 4, 0, 3).long(), torch.histc(numbers, 2, 0, 4).cumsum(0, dtype=torch.int32)]


@check
def vision_operators(device):
    import torchvision

    x = torch.randn(1, 2, 8, 8).to(device).requires_grad_()
    boxes = torch.tensor([[0.0, 0, 0, 4, 4], [0, 2, 2, 7, 6]], device=device)
    found = [torchvision.ops.roi_align(x, boxes, 2), torchvision.ops.roi_pool(x, boxes, 2)]
    offset = torch.zeros(1, 18, 6, 6, device=device)
    found.append(torchvision.ops.deform_conv2d(x, offset, torch.ones(3, 2, 3, 3, device=device)))
    return [*found, *(torch.autograd.grad(each.square().sum(), x)[0] for each in found)]


def values(function, device):
    torch.manual_seed(0)
    return [value.detach().cpu() if isinstance(value, torch.Tensor) else torch.tensor(value)
            for value in function(device)]


def fault(function):
    """What is wrong with it (empty: nothing)."""
    expected = values(function, "cpu")
    try:
        found = values(function, "cuda")
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"result {number} is {tuple(other.shape)} {other.dtype}, not {tuple(one.shape)} {one.dtype}"
        near = 3e-2 if one.dtype in (torch.float16, torch.bfloat16) else 1e-4
        exact = not one.is_floating_point() and not one.is_complex()
        if not (torch.equal(one, other) if exact else torch.allclose(one, other, near, near, equal_nan=True)):
            seen, meant = (tensor.flatten()[:4].tolist() for tensor in (other, one))
            return f"result {number} of {len(expected)} is {seen}..., not {meant}..."
    return ""


# Layers of which something is not computed, so that it reads as an assumed number, and why. They must not become fewer
# unseen.
RECURRENT = "cuDNN's recurrent networks have no kernel on the CPU that takes the same arguments"
ATTENTION = "the fused kernels' backward has none either"
LAYOUT = "nested and sparse tensors' elements are not followed"
UNKNOWN = {
    "rnn": RECURRENT,
    "gru": RECURRENT,
    "gru_packed": RECURRENT,
    "lstm": RECURRENT,
    "lstm_packed": RECURRENT,
    "lstm_projected": RECURRENT,
    "attention": ATTENTION,
    "attention_bool_mask": ATTENTION,
    "attention_float_mask": ATTENTION,
    "attention_causal": ATTENTION,
    "attention_bf16": ATTENTION,
    "attention_f16_mask": ATTENTION,
    "rms_norm": ATTENTION,
    "LogSigmoid": "the CPU's backward needs a buffer that CUDA's forward does not make",
    "embedding_bag": "the CPU's backward needs a table that CUDA's forward does not make",
    "transformer_encoder": LAYOUT,
    "nested_tensor": LAYOUT,
    "sparse_tensors": LAYOUT,
    "checkpointing": "the operator at which recomputing stops ends by an exception",
    "vectorized_and_functional": "batched gradients are views that have no memory of their own",
}


def main():
    failed = 0
    for name in sys.argv[1:] or checks:
        said = fault(checks[name])
        if name in UNKNOWN:
            different = f"is named as unknown ({UNKNOWN[name]}), but: {said or 'all is known'}"
            said = "" if said.startswith("result") else different
        failed += bool(said)
        print("failed" if said else "ok", name, said, flush=True)
    print(f"{len(sys.argv[1:] or checks) - failed} passed, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
