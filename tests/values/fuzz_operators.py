"""The operators of the random programs: lines of Python with places for tensors and numbers."""

# In a template, {KIND} or {KIND:NAME} is a tensor: a any, i integers, n integers or bool, b bool, f floats. The first
# one is the subject; {o}, {oi}, {on}, {ob}, {of} are operands that broadcast with it, tensors or numbers; {m} is a mask
# of its shape; {d} one of its dimensions, {k} a place in that dimension, {at} several of them, {len} how many {at} has;
# {s} a small number, {p} one above 0.
NEW = """
torch.arange({s}, {s} + {p} * 2, {p}, device=device)
torch.arange({p}, device=device, dtype=torch.float32)
torch.full(({p}, {p}), {s}, device=device)
torch.full(({p},), {s} / 4, device=device, dtype=torch.float64)
torch.full((), {s}, device=device)
torch.ones({p}, {p}, dtype=torch.bool, device=device)
torch.zeros({p}, {p}, dtype=torch.int32, device=device)
torch.eye({p}, {p}, device=device)
torch.eye({p}, dtype=torch.int64, device=device)
torch.linspace({s}, {s} + {p}, {p}, device=device)
torch.logspace(0, {p}, {p}, base=2, device=device, dtype=torch.float64)
torch.empty({p}, {p}, dtype=torch.int64, device=device).fill_({s})
torch.empty({p}, device=device).zero_()
torch.tril_indices({p}, {p}, device=device)
torch.triu_indices({p}, {p}, 1, device=device)
torch.scalar_tensor({s}, device=device)
torch.zeros_like({a})
torch.ones_like({a}, dtype=torch.int64)
torch.full_like({a}, 1)
torch.empty_like({a}).copy_({a})
{a}.new_full(({p},), 1)
{a}.new_tensor([1, 0, 1])
{i}.new_zeros(3)
torch.as_tensor([{s}, {s}], device=device)
torch.tensor([{s}, {s}, {s}]).to(device)
torch.tensor([{s}, {s}, {s}]).pin_memory().to(device, non_blocking=True, copy=True)
torch.asarray([{s}, {s}], dtype=torch.float32, device=device)
"""
VIEWS = """
{a}[{k0}]
{a}[-1]
{a}[1:]
{a}[:{p}]
{a}[::2]
{a}[..., 0]
{a}[..., 1:]
{a}[None]
{a}[..., None]
{a}.transpose(0, {d})
{a}.transpose(-1, {d})
{a}.mT
{a}.permute(*range({a}.dim())[::-1])
{a}.movedim(0, {d})
{a}.unsqueeze({d})
{a}.squeeze()
{a}.unbind({d})[0]
{a}.unbind({d})[-1]
{a}.select({d}, {k})
{a}.narrow({d}, {k}, 1)
{a}.narrow({d}, 0, {k} + 1)
{a}.chunk(2, {d})[0]
{a}.split(2, {d})[-1]
{a}.tensor_split(3, {d})[1]
{a}.diagonal()
{a}.diagonal(1)
{a}.unfold({d}, 2, 1)
{a}.expand(2, *{a}.shape)
{a}[:1].expand({p}, *{a}.shape[1:])
{a}.view({a}.shape)
{a}.view(-1)
{a}.flatten()
{a}.detach()
{a}.view_as({a})
{a}.as_strided(({a}.numel() // 2,), (2,))
{a}.as_strided(({a}.numel() // 2,), (1,), {a}.storage_offset())
{f32}.view(torch.int32)
{f32}.view(torch.uint8)
{i64}.view(torch.int32)
"""
FUNCTIONS = """
-{i}
-{f}
~{n}
{a}.abs() if {a}.dtype != torch.bool else {a}
{a}.sign()
{n}.logical_not()
{i}.square() % 1009
{f}.floor()
{f}.ceil()
{f}.round()
{f}.trunc()
{f}.frac()
{f}.abs().sqrt()
{f}.clamp(-9, 9).exp()
{f}.abs().add(1).log()
{f}.tanh()
{f}.sigmoid()
{f}.sin()
{f}.relu()
torch.nn.functional.gelu({f})
torch.nn.functional.silu({f})
torch.nn.functional.leaky_relu({f}, 0.1)
{f}.reciprocal()
{f}.rsqrt()
{f}.isnan()
{f}.isinf()
{f}.isfinite()
{f}.nan_to_num(1.0, 2.0, -2.0)
{f}.signbit()
{a}.clone()
{a}.contiguous()
{a}.to(device, copy=True)
{a}.cpu().clone().to(device).contiguous()
{n}.to(torch.float32)
{n}.double()
{n}.int()
{n}.long()
{n}.bool()
{a} != 0
{f}.to(torch.float64)
{f}.float()
{f}.half().float()
{f}.bfloat16().float()
{f}.nan_to_num(0).clamp(-99, 99).long()
{f}.nan_to_num(0).clamp(0, 99).to(torch.uint8)
{f}.nan_to_num(0).bool()
{n} + {on}
{n} - {oi}
{n} * {on} % 1009
{f} + {o}
{f} - {of}
{f} * {o}
{f} / {o}
{i} / {oi}
{s} - {i}
{s} / {f}
{i} // {oi}
{i} // {p}
{i} % {oi}
{i} % {p}
{f} // {of}
{f} % {of}
torch.div({i}, {p}, rounding_mode="trunc")
torch.div({i}, {oi}, rounding_mode="floor")
torch.fmod({i}, {p})
torch.remainder({i}, -{p})
torch.floor_divide({i}, {p})
{i} ** 2 % 1009
{f}.pow(2)
2.0 ** {f}.clamp(-9, 9)
{n} & {on}
{n} | {on}
{n} ^ {on}
{i} << 2
{i} >> 1
torch.gcd({i}, {i}.abs() + 1)
{a} == {o}
{a} < {o}
{a} >= {o}
{a}.ne({o})
({a} > {s}) & ({a} <= {s} + 9)
torch.logical_and({a}, {o_tensor})
torch.logical_xor({a}, {o_tensor})
torch.maximum({a}, {o_tensor})
torch.minimum({a}, {o_tensor})
torch.isclose({f}, {f})
torch.eq({a}, {a}).all()
torch.atan2({f}, {of_tensor})
torch.heaviside({f}, {f})
{i}.clamp({s}, {s} + 5)
{f}.clamp(min={s})
{i}.clamp(max={oi_tensor})
torch.where({m}, {a}, {o})
torch.where({m}, {s}, {i})
torch.where({a} > 0, {a}, 0)
{a}.masked_fill({m}, 1)
torch.addcmul({f}, {f}, {f}, value=0.5)
torch.addcdiv({f}, {f}, {f}.abs() + 1)
torch.lerp({f}, {f}, 0.25)
torch.lerp({f}, {f}, {f}.sigmoid())
{a}.sum()
{a}.sum({d})
{n}.sum({d}, keepdim=True)
{n}.sum(dtype=torch.float64)
{a}.prod() % 1009
{n}.prod({d}) % 1009
{f}.mean()
{f}.mean({d})
{f}.var({d}, correction=0)
{f}.std(correction=0)
{f}.norm()
{f}.norm(1, {d})
torch.linalg.vector_norm({f}, float("inf"))
{f}.logsumexp({d})
{a}.amax({d})
{a}.amin()
{a}.max()
{a}.min({d}).values
{a}.max({d}).indices
{a}.argmax()
{a}.argmin({d})
{n}.argmax({d}, keepdim=True) if {n}.dtype != torch.bool else {n}
{a}.any()
{a}.all({d})
{n}.any({d})
{n}.all()
{a}.count_nonzero()
{a}.count_nonzero({d})
{i}.median()
{i}.contiguous().median({d}).values
{f}.contiguous().median({d}).indices
{f}.nanmedian()
{i}.mode({d}).values
{f}.quantile(0.5)
{f}.nansum()
torch.aminmax({i})[1]
{a}.cumsum({d})
{n}.cumsum({d}, dtype=torch.int64)
{i}.cumprod({d}) % 1009
{f}.tanh().cumprod({d})
{i}.cummax({d}).values
{a}.cummax({d}).indices
{f}.cummin({d}).values
{f}.logcumsumexp({d})
{i}.diff(dim={d})
{f}.diff()
torch.isin({i}, {i})
torch.isin({i}, torch.tensor([0, 1, 5], device=device))
torch.isin({i}, {s}, invert=True)
{a}.sort({d}).values
{a}.sort(dim={d}, descending=True, stable=True).indices
{a}.argsort(dim={d}, stable=True)
torch.msort({a})
{i}.topk(1, {d}).values
{f}.topk({k} + 1, {d}).values
{i}.topk({k} + 1, {d}, largest=False).values
{i}.kthvalue(1, {d}).values
{a}.unique()
{i}.unique(return_inverse=True)[1]
{n}.unique(return_counts=True)[1]
{i}.unique(dim={d}).contiguous()
torch.unique_consecutive({a})
torch.unique_consecutive({i}, return_counts=True)[1]
{a}.nonzero()
{a}.nonzero(as_tuple=True)[0]
torch.argwhere({a})
torch.where({m})[0]
{a}.masked_select({m})
{a}[{m}]
{a}[{a} != 0]
{a}[{a}.any(-1)]
{a}[{at0}]
{a}[{at0}, 0]
{a}[..., {at_last}]
{a}[{at0}[:, None], {at_last}]
{a}.index_select({d}, {at})
{a}.gather(0, {at0}.view(-1, *[1] * ({a}.dim() - 1)).expand(-1, *{a}.shape[1:]))
{a}.take({at_flat})
torch.take_along_dim({a}, {a}.argsort(dim={d}, stable=True), {d})
torch.cat([{a}, {a:same}], {d})
torch.cat([{a}, {a}])
torch.stack([{a}, {a:same}], {d})
torch.hstack([{a}, {a:same}])
torch.vstack([{a}, {a:same}])
{a}.repeat(2, *[1] * {a}.dim())
{a}.tile(2)
{a}.repeat_interleave(2, {d})
{a}.flatten().repeat_interleave({at_flat})
torch.repeat_interleave({at_flat})
{a}[:3].repeat_interleave(torch.tensor([2, 0, 1], device=device)[: len({a})], 0)
{a}.roll(1, {d})
{a}.flip({d})
{a}.rot90()
{a}.reshape(-1)
{a}.reshape(-1, 1)
{a}.tril()
{a}.triu(1)
torch.diag({a})
torch.diag_embed({a})
torch.block_diag({a}, {a:same})
torch.outer({f}.flatten(), {f}.flatten())
torch.meshgrid({a}.flatten()[:4], {a}.flatten()[:3], indexing="ij")[1]
torch.cartesian_prod({i}.flatten()[:3], {i}.flatten()[:3])
torch.combinations({i}.flatten()[:4])
({i}.flatten().abs() % 9).bincount()
({n}.flatten().long().abs() % 7).bincount(minlength=8)
({i}.flatten().abs() % 5).bincount({f}.flatten()[:1].expand({i}.numel()))
torch.histc({f}, 4, -3, 3)
torch.histc({f}.nan_to_num(0).clamp(-9, 9), 5)
torch.bucketize({i}, torch.tensor([-2, 0, 3, 8], device=device))
torch.bucketize({f}, torch.arange(-3.0, 4, device=device), right=True)
torch.searchsorted({i}.flatten().sort().values, {i}.flatten())
torch.searchsorted({f}.flatten().nan_to_num().sort().values, {s}.0, right=True)
torch.nn.functional.one_hot({i}.long().abs() % 5, 5)
torch.nn.functional.pad({a}, (1, 2))
torch.nn.functional.pad({a}, (0, 1), value=1)
{f}.softmax({d})
{f}.log_softmax({d})
torch.nn.functional.layer_norm({f}, {f}.shape[-1:])
torch.nn.functional.normalize({f}, dim={d})
{f} @ {f}.mT
{f}.flatten() @ {f}.flatten()
{f} @ {f}.flatten()[:1].expand({f}.shape[-1])
torch.nn.functional.linear({f}, torch.eye(3, {f}.shape[-1], device=device, dtype={f}.dtype))
torch.einsum("...i,...i->...", {f}, {f})
torch.nn.functional.embedding({at_rows}, {f}[None, None].flatten(1, -2)[0])
torch.nn.functional.cross_entropy({f}[None].flatten(0, -2), {f}[None].flatten(0, -2).argmin(-1))
torch.nn.functional.mse_loss({f}, {f}.roll(1))
torch.nn.functional.interpolate({f}[None, None].flatten(2), scale_factor=2)
torch.cdist({f}[None].flatten(0, -2), {f}[None].flatten(0, -2), p=1)
torch.cumulative_trapezoid({f})
torch.zeros({p}, dtype=torch.int64, device=device).scatter_add_(0, {i}.flatten().long().abs() % {last_p}, \
{i}.flatten().long())
torch.zeros({p}, dtype={f}.dtype, device=device).scatter_reduce_(0, {at_flat} % {last_p}, \
{f}.flatten()[{at_flat}], "amax")
torch.zeros({p}, dtype=torch.int64, device=device).scatter_(0, {i}.flatten()[:1].long().abs() % {last_p}, {s})
torch.empty_like({i}).scatter_({d}, {i}.argsort(dim={d}, stable=True), {i})
torch.empty_like({i}.flatten()).scatter_(0, {i}.flatten().argsort(stable=True), \
torch.arange({i}.numel(), device=device).to({i}.dtype))
torch.empty_like({a}).index_copy_(0, torch.arange(len({a}), device=device).flip(0), {a})
torch.empty_like({a}).put_(torch.arange({a}.numel(), device=device), {a})
torch.empty_like({b}).masked_fill_({b}, True).masked_fill_(~{b}, False)
torch.empty_like({f}).masked_scatter_(torch.ones_like({f}, dtype=torch.bool), {f})
torch.zeros_like({f}).normal_(0, 0)
torch._foreach_add([{a}, {a}], 1)[1]
torch._foreach_mul([{f}, {f}], [0.5, 2.0])[0]
torch._foreach_sub([{f}, {f}], [{f:same}, {f}])[0]
torch._foreach_neg([{f}, {f}])[1]
torch._foreach_add([{i}, {i:same}], [{i}, {i:same}], alpha=2)[0]
torch._foreach_norm([{f}, {f}])[0]
torch._foreach_sqrt([{f}.abs(), {f}.abs()])[1]
torch._foreach_maximum([{i}, {i}], 3)[0]
torch.autograd.grad((x := {f}.detach().clone().requires_grad_()).tanh().sum(), x)[0]
torch.autograd.grad(((x := {f}.detach().clone().requires_grad_()) * {f:same}).sum(), x)[0]
torch.autograd.grad((x := {f}.detach().clone().requires_grad_())[{m}].square().sum(), x)[0]
torch.autograd.grad((x := {f}.detach().clone().requires_grad_()).softmax({d}).amax({d}).sum(), x)[0]
torch.autograd.grad((x := {f}.detach().clone().requires_grad_()).relu().cumsum({d}).mean(), x)[0]
({a} + 1) if bool(({a} > {s}).any()) else ({a} + 2)
{a}[: int({n}.count_nonzero()) % 3 + 1]
torch.arange(int({i}.abs().sum()) % 7, device=device)
torch.zeros(int({m}.sum()) % 4, 2, device=device)
torch.cat([row for row in {a} if row.any()])
torch.ones(len({a}), dtype=torch.int32, device=device) * {r}
{i} + {r}
{a} == {r}
"""
# Each writes to {w} (any), {wi}, {wn}, {wb} or {wf}, which is the subject.
WRITES = """
{w}.fill_(1)
{wi}.fill_({s})
{wf}.fill_({r})
{w}.zero_()
{wi}.fill_({i}.flatten()[0])
{wi}.add_({oi})
{wn}.logical_not_()
{wi} += {oi}
{wi} -= {p}
{wi}.mul_({oi}).remainder_(101)
{wi} *= 3
{wi}.neg_()
{wi}.abs_()
{wi}.remainder_({p})
{wi}.floor_divide_({p})
{wi} //= {p}
{wi}.bitwise_and_({oi})
{wn}.bitwise_or_({ob})
{wi}.bitwise_xor_({p})
{wi}.clamp_({s}, {s} + 4)
{wb}.logical_and_({ob})
{wb} &= {ob}
{wb} |= {ob}
{wb}.logical_xor_({ob_tensor})
{wb}.copy_({ob_tensor})
{wi}.copy_({oi_tensor})
{wf}.copy_({o_tensor})
{wf}.add_({o}, alpha=0.5)
{wf}.sub_({of})
{wf}.mul_({o})
{wf}.div_(4)
{wf} /= {p}
{wf}.clamp_(-5, 5)
{wf}.sqrt_()
{wf}.tanh_()
{wf}.relu_()
{wf}.nan_to_num_(0)
{wf}.addcmul_({wf}, {wf}, value=-0.5)
{wf}.lerp_({wf} + 1, 0.5)
{wf}.floor_()
{w}.masked_fill_({m}, 0)
{wi}.masked_fill_({wi} > {s}, {s})
{wi}.masked_scatter_({m}, torch.arange({wi}.numel(), device=device).to({wi}.dtype))
{w}[{m}] = 1
{wi}[{wi} % 2 == 0] += 1
{wf}[{m}] = {s}
{w}[0] = 0
{wi}[{at0}] = {s}
{wi}[{at0}] += 1
{wi}[..., {at_last}] = torch.tensor({s}, device=device, dtype={wi}.dtype)
{w}[{at0}[0]] = {w}[-1].clone()
{w}[1:] = {w}[:-1].clone()
{wi}.index_put_(({at0},), torch.tensor({s}, dtype={wi}.dtype, device=device), accumulate=True)
{wf}.index_put_(({at0}, ), torch.tensor(0.5, dtype={wf}.dtype, device=device))
{wi}.index_add_({d}, {at}, torch.ones_like({wi}).index_select({d}, {at}))
{wi}.index_fill_({d}, {at}, {s})
{w}.index_copy_({d}, {at}.unique(), {w}.index_select({d}, {at}.unique()).flip({d}))
{wi}.scatter_({d}, {wi}.argsort(dim={d}, stable=True), {s})
{wi}.scatter_({d}, {wi}.argsort(dim={d}, stable=True), {wi}.clone())
{wi}.scatter_add_({d}, {wi}.argsort(dim={d}, stable=True), torch.ones_like({wi}))
{wi}.put_({at_flat}.unique(), torch.ones_like({wi}).take({at_flat}.unique()))
{w}.tril_()
{w}.fill_diagonal_(1)
{wi}.cumsum_({d}).remainder_(1009)
{w}.copy_({w}.flip(0))
{w}.unbind(0)[0].fill_(0)
{w}.diagonal().fill_(1)
{wi}.diagonal().add_({p})
{w}.T.copy_({w}.T.clone())
{wi}.select({d}, {k}).add_({p})
{w}.narrow({d}, {k}, 1).zero_()
torch.add({wi}, {s}, out={wi})
torch.mul({wf}, 0.5, out={wf})
torch.eq({wb}, {ob_tensor}, out={wb})
torch.clamp({wi}, {s}, {s} + 6, out={wi})
torch.where({m}, {wi}, torch.zeros_like({wi}), out={wi})
torch.cumsum({wi}.clone(), {d}, out={wi})
torch.sum({wi}[None].clone(), 0, out={wi})
torch.cat([{w}[:1].clone(), {w}[1:].clone()], out={w})
torch.arange({wi}.numel(), out={wi}.view(-1))
torch._foreach_add_([{wi}], {p})
torch._foreach_mul_([{wf}, {f}.clone()], 0.5)
torch._foreach_copy_([{wi}], [torch.full_like({wi}, {s})])
torch._foreach_zero_([{w}])
torch._foreach_lerp_([{wf}], [torch.ones_like({wf})], 0.25)
torch._foreach_addcmul_([{wf}], [{wf}.clone()], [{wf}.clone()], 0.5)
torch._foreach_clamp_min_([{wi}], {s})
torch.nn.utils.vector_to_parameters(torch.ones({wf}.numel(), device=device, dtype={wf}.dtype), [{wf}])
"""
READS = """
int({i}.flatten()[0])
{n}.sum().item()
int({n}.argmax()) if {n}.dtype != torch.bool else 3
bool({m}.any())
int({m}.sum())
len({a}.unique())
{i}.flatten().tolist()[-1]
int({a}.count_nonzero())
min({i}.max().item(), 50)
sum(1 for each in {a}.flatten()[:5] if each)
[int(each) for each in {i}.flatten()[:3]][0]
int(torch.equal({a}, {a:same}.clone()))
int(torch.allclose({f}, {f:same}, equal_nan=True))
round({f}.nan_to_num(0).clamp(-9, 9).sum().item())
int(({f} > 0).sum().cpu().numpy())
range({p})[{i}.flatten()[0].abs() % {last_p}]
"""
TABLES = {
    name: text.strip().splitlines()
    for name, text in {"new": NEW, "view": VIEWS, "function": FUNCTIONS, "write": WRITES, "read": READS}.items()
}
WEIGHTS = {"new": 2, "view": 5, "function": 10, "write": 6, "read": 2}
# What a CUDA graph cannot hold: copies from pageable memory, sizes that depend on values.
NOT_CAPTURED = (
    "torch.tensor",
    "[0] = 0",
    "[(",
    "[t",
    "] += 1",
    "unique",
    "masked_scatter",
    "parameters_",
    "to_parameters",
)
