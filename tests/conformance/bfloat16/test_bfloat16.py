"""Bfloat16: ROCm's two classes and the compiler's own type."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, Refuses, numbers
from tests.conformance.narrow import SPECIAL, from_bf16, to_bf16, wide

bfloat16 = Feature(__file__)

# Codes travel as int16.
_CODES = np.arange(65536, dtype=np.uint16)
_A, _B = to_bf16(wide(400, 3, (-20, 20))), to_bf16(wide(400, 4, (-20, 20)))
_SMALL, _OTHER = to_bf16(numbers(64 * 32)), to_bf16(numbers(64 * 32, 2))
_NUMBERS = to_bf16(np.array([0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e38, np.inf, -np.inf, np.nan], np.float32))
_LEFT, _RIGHT = (np.ascontiguousarray(side.ravel()) for side in np.meshgrid(_NUMBERS, _NUMBERS))


def _numbers(values: Array) -> Array:
    """Numbers as they leave a program: bfloat16 has no dtype of numpy, so that they travel as codes."""
    return values.view(np.int16)


@bfloat16.program(x=np.concatenate([SPECIAL[~np.isnan(SPECIAL)], wide(501)]))
def round_from_float(x: Array) -> tuple[Array, ...]:
    """To nearest, ties to even, by function, by cast and in pairs."""
    codes = _numbers(to_bf16(x))
    return codes, codes, codes[: len(x) // 2 * 2]


@bfloat16.program(x=_CODES)
def widen_all(x: Array) -> tuple[Array, Array]:
    """All 65536 codes, alone and in pairs."""
    return from_bf16(x), from_bf16(x)


@bfloat16.program(a=_A, b=_B)
def arithmetic(a: Array, b: Array) -> Array:
    """ROCm's operators compute in single precision and round; so does __hfma, of a fused product and sum."""
    x, y = from_bf16(a), from_bf16(b)
    fused = (x.astype(np.float64) * y + x).astype(np.float32)
    return _numbers(np.concatenate([to_bf16(z) for z in (x + y, x - y, x * y, x / y, -np.abs(x), fused)]))


@bfloat16.program(a=_A, b=_B)
def packed(a: Array, b: Array) -> Array:
    """Arithmetic on pairs, and how halves are moved."""
    x, y = from_bf16(a).reshape(-1, 2), from_bf16(b).reshape(-1, 2)
    (p, q), (r, s) = x.T, y.T
    fused = (x.astype(np.float64) * y + y).astype(np.float32)
    moved = [np.stack(pair, axis=1) for pair in ((q, p), (p, r), (q, s), (s, p), (q, q))]
    results = [x + y, x * y, fused, -x, x / y, *moved, np.maximum(x, y)]
    return _numbers(np.concatenate([to_bf16(z).ravel() for z in results]))


@bfloat16.program(a=_LEFT, b=_RIGHT)
def compare(a: Array, b: Array) -> Array:
    """NaN is unequal to all; the unordered forms are true of it."""
    x, y = from_bf16(a), from_bf16(b)
    nan = np.isnan(x) | np.isnan(y)
    bits = [x == y, x < y, x <= y, x > y, x >= y, x != y, x == y, x < y, x >= y, np.isnan(x), np.isinf(x)]
    bits += [(x == y) | nan, (x < y) | nan]
    return sum((bit.astype(np.int32) << place for place, bit in enumerate(bits)), np.zeros(a.shape, np.int32))


# Arguments for which no result lies near the middle of two numbers, so that a wrong bit of the device does no harm.
@bfloat16.program(x=to_bf16(np.concatenate([numbers(100, 11, 0.1, 7), np.array([1.0, 0.0], np.float32)])))
def functions(x: Array) -> Array:
    """Functions of single precision, rounded."""
    wide_x = from_bf16(x).astype(np.float64)
    own = {"rsqrt": lambda v: 1 / np.sqrt(v), "rcp": lambda v: 1 / v}
    names = [
        "exp",
        "exp2",
        "log",
        "log2",
        "sqrt",
        "rsqrt",
        "rcp",
        "sin",
        "cos",
        "floor",
        "ceil",
        "rint",
        "trunc",
        "exp",
    ]
    with np.errstate(all="ignore"):
        values = [(own.get(name) or getattr(np, name))(wide_x).astype(np.float32) for name in names]
    return _numbers(np.concatenate([to_bf16(value) for value in values]))


@bfloat16.program(a=_A[:256], b=_B[:256])
def compiler_type(a: Array, b: Array) -> Array:
    """Vectors of __bf16: products, conversions, comparisons."""
    x, y = from_bf16(a), from_bf16(b)
    fused = (x.astype(np.float64) * 3 + y).astype(np.float32)
    return _numbers(np.concatenate([to_bf16(x * y), to_bf16(fused), to_bf16(np.minimum(x, y))]))


@bfloat16.program(x=np.array([1 + 2**-8 + 2**-30, 1 + 2**-8, 1 + 3 * 2**-8 - 2**-40, -1e39, 1e-50, np.pi]))
def from_double(x: Array) -> tuple[Array, Array]:
    """A cast rounds once; ROCm's function does so only of what single precision rounds away from zero."""
    fraction, exponent = np.frexp(x)
    with np.errstate(over="ignore"):
        rounded = np.ldexp(np.rint(np.ldexp(fraction, 8)), exponent - 8).astype(np.float32)
        single = x.astype(np.float32)
    function = np.where(np.abs(single) > np.abs(x), rounded, single)
    return _numbers(to_bf16(rounded)), _numbers(to_bf16(function))


@bfloat16.program(x=wide(200))
def bits(x: Array) -> tuple[Array, Array]:
    """Cut off by a shift; through integers and back."""
    cut = (x.view(np.uint32) >> 16).astype(np.uint16)
    return cut.view(np.int16), (cut ^ np.uint16(0x8000)).view(np.int16)


@bfloat16.program(a=wide(200, 1, (-5, 5)), b=wide(200, 2, (-5, 5)))
def old_class(a: Array, b: Array) -> Array:
    """hip_bfloat16 of hip_bfloat16.h."""
    x, y = from_bf16(to_bf16(a)), from_bf16(to_bf16(b))
    cut = (a.view(np.uint32) >> 16).astype(np.uint16)
    sign = np.where(x < y, 1, -1).astype(np.float32)
    return _numbers(np.concatenate([to_bf16(a), cut, to_bf16(x + y), to_bf16(x * y), to_bf16(sign)]))


@bfloat16.program(a=_SMALL.reshape(64, 32), b=_OTHER.reshape(64, 32), target="gfx950", ulp=16, atol=1e-6)
def dot2(a: Array, b: Array) -> Array:
    """v_dot2_f32_bf16 of gfx950 sums in single precision."""
    return (from_bf16(a).astype(np.float64) * from_bf16(b)).sum(axis=1).astype(np.float32)


@bfloat16.program(a=_SMALL.reshape(64, 32), b=_OTHER.reshape(64, 32), shape=(64,))
def dot2_of_older_target(a: Array, b: Array) -> Refuses:
    """Before gfx950 there is no such instruction, which the compiler for the GPU says."""
    return Refuses("COMPILE_FAILED", "fdot2_f32_bf16")


@bfloat16.program(x=_SMALL[:1024], ulp=8, atol=1e-6)
def sixteen_bytes(x: Array) -> Array:
    """Loads of sixteen bytes, read as pairs."""
    return from_bf16(x).astype(np.float64).reshape(-1, 8).sum(axis=1).astype(np.float32)


test_bfloat16 = bfloat16.test()
