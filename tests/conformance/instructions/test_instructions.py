"""Floating-point instructions behind the functions, and how products and sums are fused.

Accuracies are those of the "AMD Instinct MI300 ISA".
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np

from tests.conformance.exact import POSITIVE, X, Y, exact, joined, singles, toward
from tests.conformance.harness import Array, Feature, NeedsDevice, integers, numbers

instructions = Feature(__file__)

_F = np.float32


@instructions.program(
    x=np.concatenate([POSITIVE, singles(1e-40, -1e-40, 1e-45, 2.0**-126, 3e38, 1.0, 126.5, 140.0, 2.0**127, 0.0)]),
    ulp=1,
)
def flushed(x: Array) -> Array:
    """Approximations take subnormal numbers for zero and give none; v_ldexp_f32 keeps them."""

    def flush(values: Array) -> Array:
        return np.where(np.abs(values) < 2.0**-126, np.copysign(0, values), values)

    with np.errstate(all="ignore"):
        wide = flush(x.astype(np.float64))
        results = [flush(1 / wide), 1 / np.sqrt(wide), np.sqrt(wide), np.log2(wide), flush(np.exp2(-wide))]
        return joined(*results, np.ldexp(x.astype(np.float64), -20)).astype(_F)


@instructions.program(x=np.concatenate([X, numbers(20, 4, -80, 80)]), y=numbers(80, 5, 0.5, 2), ulp=2)
def fast_functions(x: Array, y: Array) -> Array:
    """The forms with underscores: a product in single precision, then an instruction that is good to one unit."""
    wide, size = x.astype(np.float64), np.abs(x).astype(np.float64)
    two_to = [
        np.exp2((x * _F(1.44269502)).astype(np.float64)),
        np.exp2((x / _F(8) * _F(3.32192802)).astype(np.float64)),
    ]
    logs = [np.log(size), np.log2(size), np.log10(size), size ** y.astype(np.float64)]
    results = [*two_to, *logs, wide / y, 1 / wide, 1 / np.sqrt(size), np.sqrt(size), np.clip(wide, 0, 1), np.exp2(wide)]
    return joined(*results).astype(_F)


@instructions.program(x=np.concatenate([numbers(60, 6, -7, 7), numbers(20, 7, -200, 200)]), ulp=2, atol=1e-7)
def fast_trigonometry(x: Array) -> Array:
    """__sinf multiplies by 1/(2 pi) in single precision; the instruction counts in turns."""
    turns = x * _F(0.15915494)
    waves = [
        exact(function, 2 * values.astype(np.float64))
        for values in (turns, x)
        for function in (mpmath.sinpi, mpmath.cospi)
    ]
    return joined(*waves).astype(_F)


_FACTORS = {"x": numbers(100, 10), "y": numbers(100, 11), "z": numbers(100, 12)}


@instructions.program(**_FACTORS)
def fused(x: Array, y: Array, z: Array) -> Array:
    """fmaf rounds once, and so does a product and a sum in one expression, which HIP contracts."""
    once, negative = (
        toward(
            [Fraction(float(s * a)) * Fraction(float(b)) + Fraction(float(c)) for a, b, c in zip(x, y, z, strict=True)],
            "rn",
            _F,
        )
        for s in (1, -1)
    )
    assert (once != x * y + z).any()
    return joined(once, once, once, negative)


@instructions.program(**_FACTORS)
def unfused(x: Array, y: Array, z: Array) -> Array:
    """Where a pragma forbids contraction, both operations round."""
    return x * y + z


@instructions.program(
    x=np.concatenate([X, singles(np.inf, -np.inf, 0.0, 1e-40, -1e-9)]),
    y=np.append(Y, singles(1, 2, 3, 4, 5)),
    z=numbers(65, 12, -9, 9),
)
def selections(x: Array, y: Array, z: Array) -> Array:
    """The middle of three, fraction, mantissa and exponent, classes."""
    middle = np.sort(np.stack([x, y, z]), axis=0)[1]
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        fraction = np.minimum(wide - np.floor(wide), _F(0.99999994))
    mantissa, exponent = np.frexp(np.where(np.isinf(x), 0, x))
    mantissa = np.where(np.isinf(x), x, mantissa)
    kinds = np.isinf(x) | (x == 0)
    return joined(middle, fraction, mantissa, exponent, wide * 32, np.fmax(np.fmin(x, y), z), kinds).astype(_F)


@instructions.program(x=numbers(60, 13, 0.05, 8))
def halves_of_instructions(x: Array) -> Array:
    """The instructions of half precision round once."""
    h = x.astype(np.float16)
    wide = h.astype(np.float64)
    mantissa, exponent = np.frexp(wide)
    square = (x * x).astype(np.float16).astype(np.float64)
    results = [wide - np.floor(wide), wide * 8, mantissa, exponent, 1 / wide, np.sqrt(square), np.clip(wide, -1, 1)]
    return joined(*results).astype(np.float16).astype(_F)


@instructions.program(
    x=np.concatenate(
        [
            numbers(400, 17),
            np.ldexp(numbers(400, 18, 1, 2), integers(400, 18, -140, 127)).astype(_F),
            singles(0, 1, np.inf, np.nan, 5),
        ]
    ),
    y=np.concatenate(
        [
            numbers(400, 19),
            np.ldexp(numbers(400, 20, 1, 2), integers(400, 20, -140, 127)).astype(_F),
            singles(3, 0, 2, 1, np.inf),
        ]
    ),
)
def division(x: Array, y: Array) -> Array:
    """div_scale, div_fmas and div_fixup give the correctly rounded quotient, whatever the exponents."""
    with np.errstate(all="ignore"):
        return x / y


@instructions.program(x=np.append(numbers(60, 21, 0.1, 9, np.float64), [3.0, 1e100]), ulp=1)
def coarse_reciprocal(x: Array) -> tuple[Array, Array]:
    """v_rcp_f64 is good to 2^29 units in the last place only."""
    return np.ones(len(x), np.int32), 1 / x


@instructions.program(x=integers(100, 3, -(2**31), 2**31), y=integers(100, 4, -(2**31), 2**31))
def dot_products(x: Array, y: Array) -> Array:
    """Dot products of four and of eight small integers, also by AMD's functions."""
    signed, unsigned = (
        (x.view(dtype).reshape(-1, 4).astype(np.int64) * y.view(dtype).reshape(-1, 4)).sum(axis=1) + 5
        for dtype in (np.int8, np.uint8)
    )
    eighths = [((v[:, None] >> np.arange(0, 32, 4)) & 15 ^ 8) - 8 for v in (x.astype(np.int64), y.astype(np.int64))]
    return np.concatenate([signed, unsigned] * 2 + [(eighths[0] * eighths[1]).sum(axis=1) + 5]).astype(np.int32)


@instructions.program(x=numbers(4))
def about_the_block(x: Array) -> Array:
    """Kinds of memory, sizes of block and grid, lanes; readfirstlane of 64 bits takes the lower half."""
    lane = np.arange(192) % 64
    same = [np.full(192, value) for value in (1, 2, 65, 192)]
    return np.stack([*same, lane, np.full(192, 10)], axis=1).reshape(-1).astype(np.int32)


@instructions.program(x=numbers(64))
def buffer_by_name(x: Array) -> NeedsDevice:
    """A load through a buffer resource, called by LLVM's name of it."""
    return NeedsDevice("it uses llvm.amdgcn.raw.buffer.load.f32")


@instructions.program(x=numbers(64))
def buffer_resource(x: Array) -> NeedsDevice:
    """The same by clang's builtins and type."""
    return NeedsDevice("__amdgpu_buffer_rsrc_t")


test_instructions = instructions.test()
