"""Conversions between integers and floats, and functions of integers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tests.conformance.exact import joined, toward
from tests.conformance.harness import Array, Feature, integers, numbers

conversions = Feature(__file__)

_F = np.float32
# Halves, what lies at the edges of integers, and what is no number.
_EDGES = np.array(
    [
        *(-1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 255.7, 256.0, 300.0, -1.0, -129.0, 32768.5, 40000.0, 70000.0, 2147483520.0),
        *(2147483648.0, -2147483648.0, 3e9, 4294967040.0, 5e9, -3e9, 1e20, np.inf, -np.inf, np.nan, 8388609.0, -0.99),
        0.49999997,
    ],
    _F,
)


def _saturated(values: Array, low: int, high: int) -> Array:
    """Cut off, within the range; NaN is 0."""
    wide = np.nan_to_num(values.astype(np.float64), nan=0, posinf=1e300, neginf=-1e300)
    return np.array([min(max(int(value), low), high) for value in wide], np.int64)


@conversions.program(x=_EDGES)
def to_integers(x: Array) -> tuple[Array, ...]:
    """v_cvt_i32_f32 and its like saturate, and give 0 for NaN."""
    signed, unsigned = (-(2**31), 2**31 - 1), (0, 2**32 - 1)
    even = np.rint(x)
    words = [_saturated(values, *signed) for values in (x, even, np.floor(x), np.ceil(x), even)]
    unsigneds = [_saturated(values, *unsigned) for values in (x, even, x)]
    longs = _saturated(np.fmin(np.fmax(even, _F(-1e18)), _F(1e18)), -(2**63), 2**63 - 1)
    return (
        *(joined(*words).astype(np.int32), joined(*unsigneds).astype(np.uint32)),
        *(words[0].astype(np.uint8), words[0].astype(np.int16), longs),
    )


@conversions.program(x=_EDGES)
def vectors_to_integers(x: Array) -> tuple[Array, ...]:
    """The same for clang's vectors; half precision is converted to sixteen bits."""
    words = _saturated(x, -(2**31), 2**31 - 1)
    with np.errstate(over="ignore"):
        shorts = _saturated(x.astype(np.float16), 0, 2**16 - 1)
    return words.astype(np.int32), words.astype(np.uint8), shorts.astype(np.uint16)


@conversions.program(x=integers(80, 1, -(2**62), 2**62, np.int64))
def from_integers(x: Array) -> tuple[Array, Array]:
    """Integers too long for a mantissa are rounded as the suffix says."""
    longs = [int(value) for value in x]
    words = [value >> 20 for value in longs]
    words = [(word + 2**31) % 2**32 - 2**31 for word in words]
    plain = [word % 2**32 for word in words]
    floats = [toward(words, mode, _F) for mode in ("rn", "rz", "rd", "ru")]
    floats += [toward(plain, "rn", _F), toward(longs, "rn", _F), toward(longs, "ru", _F)]
    floats.append(toward([value % 2**64 for value in longs], "rz", _F))
    return joined(*floats), joined(
        toward(longs, "rn", np.float64), toward(longs, "rd", np.float64), np.array(plain, np.float64)
    )


@conversions.program(x=numbers(60, 16, -1e5, 1e5, np.float64))
def bit_casts(x: Array) -> tuple[Array, ...]:
    """Bits of doubles and floats; doubles to floats in each rounding mode."""
    bits, single = x.view(np.int64), x.astype(_F)
    halves = bits.view(np.int32).reshape(-1, 2)
    longs = [bits, halves[:, 1], halves[:, 0], single.view(np.int32)]
    rounded = [toward([Fraction(value) for value in x], mode, _F) for mode in ("rd", "ru", "rz")]
    high = (bits & ~np.int64(0xFFFFFFFF)).view(np.float64)
    return joined(*longs).astype(np.int64), joined(-x, high), joined(np.abs(single), *rounded)


@conversions.program(
    x=integers(80, 1, -(2**31), 2**31), y=np.append(integers(78, 2, -(2**31), 2**31), [7, -1]).astype(np.int32)
)
def integer_functions(x: Array, y: Array) -> tuple[Array, Array]:
    """Extremes, upper halves of products, means without overflow, distances."""
    rows, wides = [], []
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        ua, ub = a % 2**32, b % 2**32
        short = [(v & 0xFFFFFF) - (v << 1 & 0x1000000) for v in (a, b)]
        row = [min(a, b), max(a, b), min(ua, ub), abs(a), a * b >> 32, ua * ub >> 32, short[0] * short[1]]
        row += [(a & 0xFFFFFF) * (b & 0xFFFFFF), a + b >> 1, a + b + 1 >> 1, ua + ub >> 1, ua + ub + 1 >> 1]
        rows.append([*row, abs(a - b) + 5, abs(ua - ub) + 5, ua % 7, math.trunc(Fraction(a, 3))])
        p, q = (((v + 2**63) % 2**64) - 2**63 for v in (a * 1000003 * b, b * 99991 + a))
        wides.append([p * q >> 64, (p % 2**64) * (q % 2**64) >> 64, abs(p), min(p, q)])
    wide = [[(v + 2**63) % 2**64 - 2**63 for v in row] for row in wides]
    words = [[v % 2**32 for v in row] for row in rows]
    return np.array(words, np.uint32).T.ravel(), np.array(wide, np.int64).T.ravel()


@conversions.program(x=np.append(integers(80, 1, -(2**63), 2**63 - 1, np.int64), [0, 1, -1, 2**32]).astype(np.int64))
def counted_bits(x: Array) -> Array:
    """Bits counted, reversed, extracted and shifted across words."""
    rows = []
    for value in x.tolist():
        wide = value % 2**64
        low, high = wide % 2**32, wide >> 32
        reverse = int(f"{wide:064b}"[::-1], 2)
        row = [low.bit_count(), wide.bit_count(), 32 - low.bit_length(), 64 - wide.bit_length()]
        row += [(low & -low).bit_length(), (wide & -wide).bit_length(), int(f"{low:032b}"[::-1], 2)]
        row += [(reverse + 2**63) % 2**64 - 2**63, (wide << 5) >> 32 & 0xFFFFFFFF, wide >> 5 & 0xFFFFFFFF, low]
        rows.append([*row, low >> 3 & 0x1FF, low & ~0xFFF0 | (high & 0xFFF) << 4])
    return np.array(rows, np.int64).T.ravel()


test_conversions = conversions.test()
