"""What Triton's own interpreter gets wrong, and what kernels may use: `triton_interpreter.py [ours]` prints JSON.

Each case is a kernel on small tensors and what a GPU gives for it. Run plainly, Triton's interpreter runs them; with
`ours`, the same launches run under `hooks.checked`. The JSON has "right", "wrong: ..." or "raised: ..." by case.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys

os.environ["TRITON_INTERPRET"] = "1"

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as cuda_libdevice
from triton.language.extra.hip import libdevice as hip_libdevice

CASES = {}
BF16, F32, F16 = torch.bfloat16, torch.float32, torch.float16


def case(function):
    """Registers a case: a function that gives what a kernel wrote and what it should have."""
    CASES[function.__name__] = function
    return function


def normal(*shape, dtype=F32):
    """Numbers from a normal distribution, the same every time."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0)).to(dtype)


@triton.jit
def arithmetic(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, a * b + a - b)


@case
def bfloat16_arithmetic():
    """Each operation rounds to bfloat16."""
    x, y = normal(64, dtype=BF16), normal(128, dtype=BF16)[64:]
    o = torch.empty(64, dtype=BF16)
    arithmetic[(1,)](x, y, o, N=64)
    return o, x * y + x - y


@triton.jit
def product(x, y, o, M: tl.constexpr, K: tl.constexpr, OUT: tl.constexpr):  # noqa: PLR0917
    i, k = tl.arange(0, M), tl.arange(0, K)
    a = tl.load(x + i[:, None] * K + k[None, :])
    b = tl.load(y + k[:, None] * M + i[None, :])
    tl.store(o + i[:, None] * M + i[None, :], tl.dot(a, b, out_dtype=OUT))


@case
def bfloat16_dot():
    """A product of bfloat16 matrices is one of their values."""
    x, y, o = normal(16, 32, dtype=BF16), normal(32, 16, dtype=BF16), torch.empty(16, 16)
    product[(1,)](x, y, o, M=16, K=32, OUT=tl.float32)
    return o, x.float() @ y.float()


@case
def float16_dot_accumulates_in_float32():
    """4096 ones add up to 4096, where a sum in float16 ends at 2048."""
    x, y = torch.ones(16, 4096, dtype=F16), torch.ones(4096, 16, dtype=F16)
    o = torch.empty(16, 16, dtype=F16)
    product[(1,)](x, y, o, M=16, K=4096, OUT=tl.float16)
    return o, torch.full((16, 16), 4096.0, dtype=F16)


@triton.jit
def cast(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i).to(o.dtype.element_ty))


@case
def bfloat16_rounds_to_even():
    """float32 to bfloat16 takes the nearest."""
    x, o = normal(256), torch.empty(256, dtype=BF16)
    cast[(1,)](x, o, N=256)
    return o, x.to(BF16)


@case
def bfloat16_to_integer():
    """bfloat16 to int32 takes the value, not the bits."""
    x, o = (normal(64) * 100).to(BF16), torch.empty(64, dtype=torch.int32)
    cast[(1,)](x, o, N=64)
    return o, x.to(torch.int32)


@case
def float8_rounds_to_even():
    """float32 to float8 takes the nearest, ties to even."""
    x, o = torch.arange(256) / 16.0, torch.empty(256, dtype=torch.float8_e4m3fn)
    cast[(1,)](x, o, N=256)
    return o.float(), x.to(torch.float8_e4m3fn).float()


@case
def float8_to_float32():
    """All float8 numbers, decoded."""
    x, o = torch.arange(0, 124, dtype=torch.uint8).view(torch.float8_e5m2), torch.empty(124)
    padded = torch.zeros(128, dtype=torch.uint8)
    padded[:124] = x.view(torch.uint8)
    wide = torch.empty(128)
    cast[(1,)](padded.view(torch.float8_e5m2), wide, N=128)
    o[:] = wide[:124]
    return o, x.float()


@case
def float_to_integer_saturates():
    """What is too large for int32 becomes the largest, NaN zero."""
    x = torch.tensor([3e9, -3e9, float("nan"), 1.9, -1.9, 0.0, 7.0, -7.0])
    o = torch.empty(8, dtype=torch.int32)
    cast[(1,)](x, o, N=8)
    return o, torch.tensor([2**31 - 1, -(2**31), 0, 1, -1, 0, 7, -7], dtype=torch.int32)


@triton.jit
def accumulate(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(o + i % 2, tl.load(x + i))


@case
def bfloat16_atomic_add():
    """Atomics on bfloat16 add values; equal addresses take turns."""
    x, o = torch.ones(64, dtype=BF16), torch.zeros(2, dtype=BF16)
    accumulate[(1,)](x, o, N=64)
    return o, torch.full((2,), 32.0, dtype=BF16)


@triton.jit
def of_generic_library(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    tl.store(o + i, libdevice.tanh(a) + libdevice.erf(a) + libdevice.log1p(libdevice.abs(a)))


@triton.jit
def of_hip_library(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, hip_libdevice.tanh(tl.load(x + i)))


@triton.jit
def of_cuda_library(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, cuda_libdevice.pow(cuda_libdevice.abs(tl.load(x + i)), 1.5))


@case
def generic_library():
    """`libdevice.tanh`, named without a target."""
    x, o = normal(64), torch.empty(64)
    of_generic_library[(1,)](x, o, N=64)
    return o, torch.tanh(x) + torch.erf(x) + torch.log1p(x.abs())


@case
def hip_library():
    """`hip.libdevice.tanh`."""
    x, o = normal(64), torch.empty(64)
    of_hip_library[(1,)](x, o, N=64)
    return o, torch.tanh(x)


@case
def cuda_library():
    """`cuda.libdevice.pow`."""
    x, o = normal(64), torch.empty(64)
    of_cuda_library[(1,)](x, o, N=64)
    return o, x.abs() ** 1.5


@triton.jit
def annotated_by_text(o, N: "tl.constexpr"):  # noqa: UP037
    tl.store(o + tl.arange(0, N), tl.zeros((N,), tl.float32) + N)


@case
def annotation_as_text():
    """A parameter annotated with the text "tl.constexpr" is a constant."""
    o = torch.empty(16)
    annotated_by_text[(1,)](o, N=16)
    return o, torch.full((16,), 16.0)


@triton.jit
def numbered(o):
    tl.store(o + tl.program_id(0), tl.program_id(0))


@case
def grid_as_list():
    """A grid may be a list."""
    o = torch.full((4,), -1, dtype=torch.int32)
    numbered[[4]](o)
    return o, torch.arange(4, dtype=torch.int32)


@triton.jit
def remainder(o, alpha):
    tl.store(o, alpha - 16777216.0)


@case
def float_scalars_are_float32():
    """A float argument is rounded to float32 before anything is computed with it."""
    o = torch.empty(1)
    remainder[(1,)](o, 16777217.0)
    return o, torch.zeros(1)


@triton.jit
def counted(o, n):
    for k in range(n):
        tl.store(o + k, (k * 1000000000).to(tl.int64))


@case
def loop_counters_wrap():
    """The counter of a loop is an int32, and so is what it is multiplied to."""
    o = torch.empty(4, dtype=torch.int64)
    counted[(1,)](o, 4)
    return o, torch.tensor([0, 10**9, 2 * 10**9, 3 * 10**9 - 2**32])


@triton.jit
def logic(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    tl.store(o + i, tl.where((a > 0 and a < 1) or not (a > -1), 1, 0))


@case
def logic_of_blocks():
    """`and`, `or` and `not` of blocks work lane by lane."""
    x, o = normal(64), torch.empty(64, dtype=torch.int32)
    logic[(1,)](x, o, N=64)
    return o, (((x > 0) & (x < 1)) | ~(x > -1)).int()


@triton.jit
def larger(v, i, w, j):
    take = (v > w) | ((v == w) & (i < j))
    return tl.where(take, v, w), tl.where(take, i, j)


@triton.jit
def best(x, places, o, N: tl.constexpr):
    i = tl.arange(0, N)
    _, at = tl.reduce((tl.load(x + i), tl.load(places + i)), 0, tl.standard._argmax_combine_tie_break_left)
    _, own = tl.reduce((tl.load(x + i), tl.load(places + i)), 0, larger)
    tl.store(o, at)
    tl.store(o + 1, own)


@case
def places_of_the_largest():
    """A reduction of pairs gives the places it was given; of equal values, the smaller one."""
    x = torch.tensor([1.0, 5.0, 5.0, 2.0])
    places, o = torch.tensor([40, 30, 20, 10], dtype=torch.int32), torch.empty(2, dtype=torch.int32)
    best[(1,)](x, places, o, N=4)
    return o, torch.tensor([20, 20], dtype=torch.int32)


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def sum_in_steps(x, o, N: tl.constexpr):
    tl.store(o, tl.reduce(tl.load(x + tl.arange(0, N)), 0, add))


@case
def float16_sums_round_each_step():
    """A reduction in float16 rounds as the lanes do, pair by pair."""
    x, o = normal(64, dtype=F16), torch.empty(1, dtype=F16)
    sum_in_steps[(1,)](x, o, N=64)
    expected = x.clone()
    while len(expected) > 1:
        expected = expected[0::2] + expected[1::2]
    return o, expected


@triton.jit
def linear(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def recurrence(x, g, o, N: tl.constexpr):
    i = tl.arange(0, N)
    _, h = tl.associative_scan((tl.load(g + i), tl.load(x + i)), 0, linear)
    tl.store(o + i, h)


@case
def scans_of_pairs():
    """A linear recurrence by an associative scan."""
    x, g, o = normal(32), torch.rand(32, generator=torch.Generator().manual_seed(1)), torch.empty(32)
    recurrence[(1,)](x, g, o, N=32)
    expected, state = [], 0.0
    for i in range(32):
        state = float(g[i]) * state + float(x[i])
        expected.append(state)
    return o, torch.tensor(expected)


@triton.jit
def arranged(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    left, right = tl.split(tl.reshape(a, (N // 2, 2)))
    tl.store(o + i, tl.sort(a))
    tl.store(o + N + i, tl.flip(a, 0))
    tl.store(o + 2 * N + i, tl.interleave(right, left))
    tl.store(o + 3 * N + i, tl.gather(a, (N - 1 - i), 0))
    tl.store(o + 4 * N + i, tl.cumsum(a, 0, reverse=True))
    tl.store(o + 5 * N + i, tl.ravel(tl.trans(tl.join(left, right))))


@case
def arrangements():
    """Sorts, flips, gathers, joins and splits."""
    x, o = normal(32), torch.empty(6, 32)
    arranged[(1,)](x, o, N=32)
    swapped = x.reshape(16, 2).flip(1).reshape(-1)
    cumulated = x.flip(0).cumsum(0).flip(0)
    joined = x.reshape(16, 2).t().reshape(-1)
    return o, torch.stack([x.sort().values, x.flip(0), swapped, x.flip(0), cumulated, joined])


@triton.jit
def binned(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + tl.arange(0, 8), tl.histogram(tl.load(x + i), 8))


@case
def histograms():
    """Numbers beyond the bins count nowhere."""
    x = torch.tensor([0, 1, 1, 7, 7, 7, 9, 3], dtype=torch.int32)
    o = torch.empty(8, dtype=torch.int32)
    binned[(1,)](x, o, N=8)
    return o, torch.tensor([1, 2, 0, 1, 0, 0, 0, 3], dtype=torch.int32)


@triton.jit
def through_views(x, o, p, M, N, B: tl.constexpr):  # noqa: PLR0917
    source = tl.make_block_ptr(x, (M, N), (N, 1), (0, 0), (B, B), (1, 0))
    total = tl.zeros((B, B), tl.float32)
    for _ in range(tl.cdiv(N, B)):
        total += tl.load(source, boundary_check=(0, 1), padding_option="zero")
        source = tl.advance(source, (0, B))
    i = tl.arange(0, B)
    tl.store(o + i, tl.sum(total, axis=1), mask=i < M)
    view = tl.make_tensor_descriptor(x, [M, N], [N, 1], [B, B])
    target = tl.make_tensor_descriptor(p, [M, N], [N, 1], [B, B])
    target.store([0, B], view.load([0, B]) * 2)


@case
def block_pointers_and_descriptors():
    """Loads through block pointers and descriptors end at the tensor's sides."""
    x, o, p = normal(12, 36), torch.zeros(12), torch.zeros(12, 36)
    through_views[(1,)](x, o, p, 12, 36, B=16)
    expected = torch.zeros(12, 36)
    expected[:, 16:32] = x[:, 16:32] * 2
    return torch.cat([o, p.reshape(-1)]), torch.cat([x.sum(1), expected.reshape(-1)])


@triton.jit
def halves(n):
    steps = 0
    while n > 1:
        n = n // 2
        steps += 1
    return steps


@triton.jit
def control(o, n, FLAG: tl.constexpr):
    total = 0
    for k in tl.range(0, n, 2):
        if k % 4 == 0:
            total += k
        else:
            total -= 1
    for k in tl.static_range(3):
        total += k
    tl.debug_barrier()
    tl.store(o, total)
    tl.store(o + 1, halves(n))
    if FLAG is not None:
        tl.store(o + 2, FLAG)


@case
def control_flow():
    """Loops of all kinds, branches, functions, constants that are None."""
    o = torch.zeros(3, dtype=torch.int32)
    control[(1,)](o, 10, FLAG=None)
    return o, torch.tensor([0 - 1 + 4 - 1 + 8 + 3, 3, 0], dtype=torch.int32)


@triton.jit
def random(o, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.randint(seed, i))


def philox(seed, offset):
    """The first word of Philox-4x32-10, Salmon et al., SC'11."""
    mask = (1 << 32) - 1
    counter, key = [offset, 0, 0, 0], [seed & mask, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [b >> 32 ^ counter[1] ^ key[0], b & mask, a >> 32 ^ counter[3] ^ key[1], a & mask]
        key = [key[0] + 0x9E3779B9 & mask, key[1] + 0xBB67AE85 & mask]
    return counter[0] - (1 << 32) if counter[0] >> 31 else counter[0]


@case
def random_numbers():
    """Philox, as published."""
    o = torch.empty(16, dtype=torch.int32)
    random[(1,)](o, 1234, N=16)
    return o, torch.tensor([philox(1234, i) for i in range(16)], dtype=torch.int32)


@triton.jit
def largest(x, o, N: tl.constexpr):
    a = tl.load(x + tl.arange(0, N))
    tl.store(o, tl.max(a))
    tl.store(o + 1, tl.minimum(tl.max(a), tl.load(x + 1)))
    tl.store(o + 2, tl.sum(a.to(tl.int32)))


@case
def not_a_number():
    """The largest number passes over NaN, and so does the smaller of two."""
    x, o = torch.tensor([1.0, float("nan"), 3.0, 2.0]), torch.empty(3)
    largest[(1,)](x, o, N=4)
    return o, torch.tensor([3.0, 3.0, 6.0])


@triton.jit
def with_attributes(x, o, N: tl.constexpr):
    WIDE: tl.constexpr = N * 2
    i = tl.arange(0, WIDE)
    a = tl.load(x + i)
    tl.static_assert(a.shape[0] == WIDE)
    tl.device_assert(i < WIDE, "never")
    b = a.to(tl.float16).to(tl.float32) if a.dtype.is_fp32() else a
    tl.store(o + i, tl.fma(b, b, b) + a.numel.value + tl.clamp(a, -1.0, 1.0) + max(a, b) - min(a, b))


@case
def attributes():
    """Shapes and types of tensors, constants made of constants, assertions that hold."""
    x, o = normal(32), torch.empty(32)
    with_attributes[(1,)](x, o, N=16)
    h = x.half().float()
    return o, (h * h + h) + 32 + x.clamp(-1, 1) + torch.maximum(x, h) - torch.minimum(x, h)


@triton.jit
def extremes(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    tl.atomic_max(o + i * 0, a)
    tl.atomic_min(o + 1, tl.min(a))
    old = tl.atomic_xchg(o + 2, 7.0)
    tl.store(o + 3, old)
    tl.atomic_add(o + 4 + i % 2, a, mask=i < 6, sem="relaxed")


@case
def atomics_of_floats():
    """Maxima, minima, exchanges and sums by atomics."""
    x, o = normal(8), torch.zeros(6)
    o[2] = 3
    extremes[(1,)](x, o, N=8)
    expected = [max(float(x.max()), 0), min(float(x.min()), 0), 7, 3, float(x[0:6:2].sum()), float(x[1:6:2].sum())]
    return o, torch.tensor(expected)


@triton.jit
def whole_numbers(x, y, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, a // b)
    tl.store(o + N + i, a % b)
    tl.store(o + 2 * N + i, a >> 1)
    tl.store(o + 3 * N + i, (a.to(tl.uint32, bitcast=True) >> 1).to(tl.int32, bitcast=True))
    tl.store(o + 4 * N + i, a * b * 65537 * 65537)
    tl.store(o + 5 * N + i, ~a & b | 3 ^ a)
    tl.store(o + 6 * N + i, tl.umulhi(a.to(tl.uint32), b.to(tl.uint32)).to(tl.int32))
    tl.store(o + 7 * N + i, -tl.abs(a) + tl.cdiv(17, 5) + (a << 2))


def wrapped(values):
    """What is left of integers in 32 bits."""
    return (values + 2**31) % 2**32 - 2**31


@case
def integers():
    """Division towards zero, shifts of both kinds, products that wrap around."""
    x = torch.tensor([7, -7, 7, -7, 2**31 - 1, -(2**31), 0, 5], dtype=torch.int32)
    y = torch.tensor([2, 2, -2, -2, 3, 7, 5, 5], dtype=torch.int32)
    o = torch.empty(8, 8, dtype=torch.int32)
    whole_numbers[(1,)](x, y, o, N=8)
    a, b = x.long(), y.long()
    high = torch.tensor([(int(p) % 2**32 * (int(q) % 2**32)) >> 32 for p, q in zip(a, b, strict=True)])
    rows = [
        torch.div(a, b, rounding_mode="trunc"),
        torch.fmod(a, b),
        a >> 1,
        a % 2**32 >> 1,
        wrapped(wrapped(a * b * 65537) * 65537),
        ~a & b | 3 ^ a,
        high,
        -a.abs() + 4 + (a << 2),
    ]
    return o, torch.stack([wrapped(row) for row in rows]).int()


@triton.jit
def of_rows(x, o, p, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    a = tl.load(x + i[:, None] * N + j[None, :])
    tl.store(o + i, tl.argmax(a, axis=1))
    tl.store(o + M + i, tl.argmin(a, axis=1))
    tl.store(o + 2 * M + i, tl.xor_sum((a * 100).to(tl.int32), axis=1))
    tl.store(o + 3 * M + i, tl.sum((a > 0).to(tl.int1), axis=1))
    shifted = a - tl.max(a, axis=1, keep_dims=True)
    power = tl.exp(shifted)
    tl.store(p + i[:, None] * N + j[None, :], power / tl.sum(power, 1)[:, None] + tl.sigmoid(a))
    tl.store(p + M * N + j[:, None] * M + i[None, :], tl.cumprod(a, 1).T)


@case
def reductions_of_rows():
    """Reductions and scans along the second axis."""
    x, o, p = normal(8, 16), torch.empty(4, 8, dtype=torch.int32), torch.empty(2, 128)
    of_rows[(1,)](x, o, p, M=8, N=16)
    bits = (x * 100).int()
    folded = bits[:, 0].clone()
    for k in range(1, 16):
        folded ^= bits[:, k]
    whole = [x.argmax(1).int(), x.argmin(1).int(), folded, (x > 0).sum(1).int()]
    parts = [(x.softmax(1) + x.sigmoid()).reshape(-1), x.cumprod(1).t().reshape(-1)]
    return torch.cat([o.reshape(-1).float(), p.reshape(-1)]), torch.cat([torch.cat(whole).float(), *parts])


@triton.jit
def product_of_bytes(x, y, o, p, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i[:, None] * N + i[None, :])
    b = tl.load(y + i[:, None] * N + i[None, :])
    tl.store(o + i[:, None] * N + i[None, :], tl.dot(a, b))
    both = tl.join(a, b).permute(2, 0, 1).to(tl.float16)
    k = tl.arange(0, 2)
    many = tl.dot(both, both)
    tl.store(p + k[:, None, None] * N * N + i[None, :, None] * N + i[None, None, :], many)


@case
def products_of_bytes_and_batches():
    """int8 products add up in int32; blocks of three axes are batches."""
    x, y = (normal(16, 16) * 50).to(torch.int8), (normal(32, 16)[16:] * 50).to(torch.int8)
    o, p = torch.empty(16, 16, dtype=torch.int32), torch.empty(2, 16, 16)
    product_of_bytes[(1,)](x, y, o, p, N=16)
    batch = torch.stack([x, y]).float()
    return torch.cat([o.float()[None], p]), torch.cat([(x.int() @ y.int()).float()[None], batch @ batch])


@triton.jit
def collatz(x, limit):
    steps = 0
    while x > 1 and steps < limit:
        x = x // 2 if x % 2 == 0 else 3 * x + 1
        steps += 1
    return steps


@triton.jit
def both_of(a, b):
    return a + b, a - b


@triton.jit
def mapped(x, o, N: tl.constexpr, PAIR: tl.constexpr):
    if tl.program_id(1) > 0:
        return
    i = tl.arange(0, N)
    a = tl.load(x + i)
    tl.store(o + i, tl.map_elementwise(collatz, a, 100))
    total, difference = both_of(*PAIR)
    tl.store(o + N + tl.num_programs(1) * 0, total)
    tl.store(o + N + 1, difference if N > 4 else 0)
    tl.store(o + N + 2, tl.load(x, mask=tl.program_id(0) > 5, other=-5))
    tl.store(o + N + 3, 9, mask=tl.program_id(0) > 5)


@case
def functions_of_scalars():
    """Functions with loops on each lane, tuples, early returns, scalars under a mask."""
    x, o = torch.tensor([1, 2, 3, 6, 7, 27, 8, 9], dtype=torch.int32), torch.zeros(12, dtype=torch.int32)
    mapped[(1, 2)](x, o, N=8, PAIR=(9, 4))
    return o, torch.tensor([0, 1, 7, 8, 16, 100, 3, 19, 13, 5, -5, 0], dtype=torch.int32)


@triton.jit
def in_doubles(x, o, scale, N: tl.constexpr):
    i = tl.arange(0, N).to(tl.int64)
    a = tl.load(x + i)
    tl.store(o + i, tl.where(i % 2 == 0, a * scale, tl.sqrt(tl.abs(a))) + tl.exp2(a) - tl.log(tl.abs(a) + 1))


@case
def doubles():
    """float64 is computed in float64; a float argument is float32 all the same."""
    x, o = normal(32).double(), torch.empty(32, dtype=torch.float64)
    in_doubles[(1,)](x, o, 0.1, N=32)
    tenth = float(torch.tensor(0.1))
    even = torch.arange(32) % 2 == 0
    return o * 1e4, (torch.where(even, x * tenth, x.abs().sqrt()) + torch.exp2(x) - torch.log(x.abs() + 1)) * 1e4


@triton.jit
def with_topk(x, o, N: tl.constexpr, K: tl.constexpr):
    a = tl.load(x + tl.arange(0, N))
    tl.store(o + tl.arange(0, K), tl.topk(a, K))
    tl.store(o + K + tl.arange(0, 2 * N), tl.cat(a, a, can_reorder=True))
    tl.store(o + K + 2 * N, tl.sum(tl.zeros_like(a) + tl.full((N,), 2.5, tl.float32)))


@case
def largest_few():
    """The largest few, and blocks one after the other."""
    x, o = normal(32), torch.empty(4 + 64 + 1)
    with_topk[(1,)](x, o, N=32, K=4)
    return o, torch.cat([x.topk(4).values, x, x, torch.tensor([80.0])])


@triton.jit
def of_library_bfloat16(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    b = tl.exp(a.to(tl.float32)).to(tl.bfloat16)
    tl.store(o + i, tl.where(a > 0, -b, tl.maximum(a, b * 0.5)) + tl.sum(a, 0))


@case
def bfloat16_among_others():
    """Comparisons, choices, weak constants and sums of bfloat16."""
    x, o = normal(64, dtype=BF16), torch.empty(64, dtype=BF16)
    of_library_bfloat16[(1,)](x, o, N=64)
    b = x.float().exp().to(BF16)
    total = x.clone()
    while len(total) > 1:
        total = total[0::2] + total[1::2]
    # Triton takes sums of bfloat16 in bfloat16, pair by pair.
    return o, torch.where(x > 0, -b, torch.maximum(x, b * 0.5)) + total


def outcome(function):
    """What becomes of a case."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            got, expected = function()
    except Exception as error:
        return f"raised: {type(error).__name__}: {error}"
    close = torch.allclose(got.double(), expected.double(), rtol=1e-5, atol=1e-5, equal_nan=True)
    return "right" if close else f"wrong: {got.reshape(-1)[:6].tolist()} for {expected.reshape(-1)[:6].tolist()}"


def main():
    """Runs all cases."""
    if sys.argv[1:] == ["ours"]:
        from kernelvault.replay.triton import hooks

        report = hooks.Checked()
        with hooks.checked(report):
            outcomes = {name: outcome(function) for name, function in CASES.items()}
        outcomes |= {f"finding {i}": finding.message for i, finding in enumerate(report.findings)}
    else:
        outcomes = {name: outcome(function) for name, function in CASES.items()}
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main()
