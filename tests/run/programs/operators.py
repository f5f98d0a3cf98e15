"""Operators that use many of the vendor's libraries; their results are not looked at."""

import torch
import torch.nn.functional as F
from features import check, run_checks
from torch import nn

x = torch.randn(64, 64, device="cuda")
batch = torch.randn(8, 16, 16, device="cuda")
image = torch.randn(2, 8, 32, 32, device="cuda", requires_grad=True)


@check
def fourier_transforms():
    torch.fft.fft(x)
    torch.fft.rfft2(x)
    torch.fft.irfft(torch.fft.rfft(x))
    torch.stft(torch.randn(4000, device="cuda"), 256, return_complex=True, window=torch.hann_window(256, device="cuda"))


@check
def linear_algebra():
    for matrix in (x, batch):
        for function in ("inv", "svd", "eigh", "eigvalsh", "qr", "cholesky_ex", "lu", "lu_factor", "det", "slogdet",
                         "pinv"):
            getattr(torch.linalg, function)(matrix)
        torch.linalg.solve(matrix, matrix)
        torch.linalg.lstsq(matrix, matrix)
        torch.linalg.solve_triangular(matrix, matrix, upper=True)
    torch.linalg.matrix_norm(x, 2)


@check
def sparse():
    indices = torch.tensor([[0, 1], [1, 0]], device="cuda")
    coo = torch.sparse_coo_tensor(indices, torch.ones(2, device="cuda"), (64, 64))
    coo.coalesce()
    torch.sparse.mm(coo, x)
    coo.to_dense()
    csr = torch.sparse_csr_tensor(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), torch.ones(2), (2, 2)).cuda()
    csr @ torch.ones(2, 2, device="cuda")
    x.to_sparse()


@check
def sorting():
    torch.sort(x)
    torch.sort(torch.randn(1_000_000, device="cuda"))
    torch.argsort(x)
    torch.topk(x, 5)
    torch.kthvalue(x, 3)
    torch.median(x)
    torch.quantile(x, 0.5)
    torch.searchsorted(torch.arange(10.0, device="cuda"), x)


@check
def results_whose_size_depends_on_values():
    torch.nonzero(x)
    torch.where(x > 0)
    x[x > 0]
    torch.masked_select(x, x > 0)
    torch.unique(x)
    torch.unique_consecutive(x.view(-1))
    torch.bincount(torch.randint(0, 5, (10,), device="cuda"))


@check
def indexing():
    rows = torch.randint(0, 64, (100,), device="cuda")
    y = x.clone()
    x[rows]
    y[rows] = 1
    y.index_put_((rows,), torch.ones(64, device="cuda"), accumulate=True)
    x.gather(0, rows[:64].view(1, -1))
    y.scatter_add_(0, rows[:64].view(1, -1), x)


@check
def embeddings():
    table = nn.Embedding(10, 64, sparse=True).cuda()
    optimizer = torch.optim.SparseAdam(table.parameters())
    table(torch.randint(0, 10, (20,), device="cuda")).sum().backward()
    optimizer.step()
    nn.EmbeddingBag(10, 64).cuda()(torch.randint(0, 10, (4, 5), device="cuda")).sum().backward()


@check
def scans():
    x.cumsum(0)
    x.cumprod(1)
    x.logcumsumexp(0)
    x.cummax(0)
    torch.cumsum(torch.ones(1_000_000, device="cuda"), 0)


@check
def random_numbers():
    torch.randperm(100, device="cuda")
    torch.randperm(100_000, device="cuda")
    torch.multinomial(torch.ones(10, device="cuda"), 3)
    torch.bernoulli(x.abs().clamp(0, 1))
    torch.poisson(x.abs())
    x.clone().exponential_()


@check
def losses():
    labels = torch.randint(0, 64, (64,), device="cuda")
    y = x.clone().requires_grad_()
    F.cross_entropy(y, labels).backward()
    F.nll_loss(y, labels).backward()
    F.multi_margin_loss(y, labels).backward()
    F.binary_cross_entropy_with_logits(y, x).backward()
    log_probabilities = torch.randn(50, 4, 20, device="cuda").log_softmax(2).requires_grad_()
    lengths = torch.full((4,), 50), torch.full((4,), 10)
    F.ctc_loss(log_probabilities, torch.randint(1, 20, (4, 10), device="cuda"), *lengths).backward()


@check
def convolutions():
    for layer, shape in (
        (nn.Conv1d(8, 8, 3), (2, 8, 32)),
        (nn.Conv2d(8, 8, 3, groups=8), (2, 8, 32, 32)),
        (nn.Conv3d(8, 8, 3), (2, 8, 16, 16, 16)),
        (nn.ConvTranspose1d(8, 8, 3), (2, 8, 32)),
        (nn.ConvTranspose3d(8, 8, 3), (2, 8, 8, 8, 8)),
    ):
        layer.cuda()(torch.randn(shape, device="cuda", requires_grad=True)).sum().backward()
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        nn.Conv2d(8, 8, 3).to("cuda", dtype)(image.detach().to(dtype).requires_grad_()).sum().backward()


@check
def convolution_settings():
    layer = nn.Conv2d(8, 8, 3).cuda()
    for flags in ({"benchmark": True}, {"deterministic": True}, {"enabled": False}):
        with torch.backends.cudnn.flags(**flags):
            layer(image).sum().backward()


@check
def pooling_and_sampling():
    for result in (
        F.max_pool2d(image, 2), F.avg_pool2d(image, 2), F.adaptive_avg_pool2d(image, 7),
        F.adaptive_max_pool2d(image, 7),
        F.interpolate(image, scale_factor=2, mode="bilinear"), F.interpolate(image, scale_factor=2, mode="bicubic"),
        F.grid_sample(image, torch.zeros(2, 4, 4, 2, device="cuda"), align_corners=False), F.unfold(image, 3),
        F.pixel_shuffle(image, 2), F.lp_pool2d(image, 2, 2), F.fractional_max_pool2d(image, 2, output_size=8),
        F.pad(image, (1, 1, 1, 1), mode="reflect"),
    ):  # fmt: skip
        result.sum().backward()


@check
def normalizations():
    for layer in (
        nn.BatchNorm2d(8), nn.GroupNorm(2, 8), nn.InstanceNorm2d(8), nn.LayerNorm(32), nn.LocalResponseNorm(2),
        nn.RMSNorm(32),
        nn.SyncBatchNorm(8),
    ):  # fmt: skip
        layer.cuda()(image).sum().backward()


@check
def recurrent_networks():
    sequence = torch.randn(4, 10, 16, device="cuda")
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        kind(16, 32, 2, batch_first=True, dropout=0.1, bidirectional=True).cuda()(sequence)[0].sum().backward()
    nn.LSTM(16, 32, proj_size=8).cuda()(sequence)[0].sum().backward()
    packed = nn.utils.rnn.pack_padded_sequence(sequence, torch.tensor([10, 9, 8, 7]), batch_first=True)
    nn.LSTM(16, 32, batch_first=True).cuda()(packed)[0].data.sum().backward()
    nn.LSTMCell(16, 32).cuda()(sequence[0])


@check
def attention():
    from torch.nn.attention import SDPBackend, sdpa_kernel

    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        query = torch.randn(2, 8, 128, 64, device="cuda", dtype=dtype, requires_grad=True)
        backends = [SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
        if dtype != torch.float32:
            backends += [SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION]
        for backend in backends:
            with sdpa_kernel(backend):
                F.scaled_dot_product_attention(query, query, query, is_causal=True).sum().backward()
    nn.TransformerEncoderLayer(64, 4, batch_first=True).cuda().eval()(torch.randn(2, 5, 64, device="cuda"))


@check
def matrix_products():
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64):
        a = torch.ones(32, 32, device="cuda", dtype=dtype)
        a @ a
        torch.bmm(a[None], a[None])
        torch.addmm(a, a, a)
        torch.baddbmm(a[None], a[None], a[None])
        a.mv(a[0])
        torch.vdot(a[0], a[0])
    a = torch.ones(32, 32, device="cuda", dtype=torch.int8)
    torch._int_mm(a, a.t().contiguous().t())
    a, one = torch.ones(32, 32, device="cuda").to(torch.float8_e4m3fn), torch.ones((), device="cuda")
    torch._scaled_mm(a, a.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    a = torch.randn(64, 64, device="cuda", dtype=torch.bfloat16)
    ends = torch.tensor([32, 64], device="cuda", dtype=torch.int32)
    torch._grouped_mm(a, torch.stack([a, a]), offs=ends)


@check
def optimizers():
    layer = nn.Linear(8, 8).cuda()

    def closure():
        layer.zero_grad()
        loss = layer(torch.ones(4, 8, device="cuda")).sum()
        loss.backward()
        return loss

    names = "SGD Adam AdamW Adagrad RMSprop Adadelta Adamax NAdam RAdam ASGD Rprop LBFGS Adafactor".split()
    made = [getattr(torch.optim, name)(layer.parameters()) for name in names]
    made += [torch.optim.AdamW(layer.parameters(), **{form: True}) for form in ("fused", "foreach", "capturable")]
    for optimizer in made + [torch.optim.Muon([layer.weight])]:
        optimizer.step(closure)
    nn.utils.clip_grad_norm_(layer.parameters(), 1.0)


@check
def loss_scaling():
    layer = nn.Linear(8, 8).cuda()
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cuda")
    for _ in range(2):
        with torch.autocast("cuda", torch.float16):
            loss = layer(torch.ones(4, 8, device="cuda")).sum()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


@check
def checkpointing():
    from torch.utils.checkpoint import checkpoint

    layer = nn.Linear(64, 64).cuda()
    for reentrant in (False, True):
        checkpoint(layer, x.clone().requires_grad_(), use_reentrant=reentrant).sum().backward()


@check
def function_transforms():
    from torch.func import grad, jacrev, vmap

    vmap(grad(lambda a: (a**2).sum()))(x)
    jacrev(lambda a: a.sin())(x[0])


@check
def fake_tensors():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        y = torch.empty(4, device="cuda")
        y.add_(1)


@check
def quantization():
    torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)
    torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255)


@check
def special_functions():
    for function in (torch.special.i0, torch.lgamma, torch.digamma, torch.erfinv, torch.special.airy_ai,
                     torch.special.bessel_j0):
        function(x)
    torch.special.zeta(x, x)
    ones = torch.ones(3, device="cuda", dtype=torch.int64)
    torch.gcd(ones, ones)


@check
def statistics():
    x.std(), x.var(0), x.logsumexp(0), x.norm(), x.softmax(-1), x.argmax(), x.max(0), x.prod()
    torch.cdist(x, x), torch.cov(x), torch.einsum("ij,jk", x, x)
    torch.equal(x, x), torch.allclose(x, x), bool((x > 5).any())


run_checks()
