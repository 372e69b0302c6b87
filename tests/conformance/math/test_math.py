"""Functions of HIP's device library and instructions behind them, conversions and integer arithmetic.

Tolerances are those of ROCm's "HIP math API" (maximum ULP errors), or what its entry of an instruction in the "AMD
Instinct MI300 ISA" says.
"""

from __future__ import annotations

import math as libm
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.conformance.harness import Array, Feature, Machine, Program, integers, numbers
from tests.conformance.math.exact import exact, toward

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]
math = Feature(__file__)

_F = np.float32


def _singles(*values: float) -> Array:
    return np.array(values, _F)


_X, _Y = numbers(60, 1, -10, 10), numbers(60, 2, -0.99, 0.99)
_POSITIVE = numbers(60, 3, 0.05, 20)
# Halves, what lies at the edges of integers, and what is no number.
_EDGES = np.array(
    [
        *(-1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 255.7, 256.0, 300.0, -1.0, -129.0, 32768.5, 40000.0, 70000.0, 2147483520.0),
        *(2147483648.0, -2147483648.0, 3e9, 4294967040.0, 5e9, -3e9, 1e20, np.inf, -np.inf, np.nan, 8388609.0, -0.99),
        0.49999997,
    ],
    _F,
)


def _all(*values: Array) -> Array:
    return np.concatenate(values)


@math.program(x=np.concatenate([_X, numbers(20, 4, -80, 80)]), ulp=2)
def exponentials(x: Array) -> Array:
    """Exponential functions and logarithms."""
    size, mp = np.abs(x), mpmath
    return _all(
        *(exact(mp.exp, x), exact(lambda v: mp.power(2, v), x), exact(lambda v: mp.power(10, v), x / 4)),
        *(exact(mp.expm1, x), exact(mp.log, size), exact(lambda v: mp.log(v, 2), size), exact(mp.log10, size)),
        *(exact(mp.log1p, size), exact(mp.expm1, x * _F(1e-4))),
    )


@math.program(
    x=np.concatenate([_X, _singles(1e4, 1e6, -12345678, 1e20, 3e38)]),
    y=np.concatenate([_Y, _singles(0.5, -1, 1, 0.25, 0)]),
    ulp=2,
)
def trigonometry(x: Array, y: Array) -> Array:
    """Sine and the like, also of large arguments, and their inverses."""
    mp = mpmath
    return _all(
        *(exact(function, x) for function in (mp.sin, mp.cos, mp.tan)),
        *(exact(mp.sinpi, y), exact(mp.cospi, y), exact(mp.asin, y), exact(mp.acos, y), exact(mp.atan, x)),
        *(exact(mp.atan2, x, y), exact(mp.atan2, y, -np.abs(x))),
    )


@math.program(x=_X, y=_Y, ulp=2)
def hyperbolic(x: Array, y: Array) -> Array:
    """Hyperbolic functions and their inverses."""
    mp = mpmath
    direct = [exact(function, x) for function in (mp.sinh, mp.cosh, mp.tanh, mp.asinh)]
    return _all(*direct, exact(mp.acosh, 1 + np.abs(x)), exact(mp.atanh, y))


@math.program(x=_POSITIVE, y=_Y * _F(5), ulp=2)
def powers(x: Array, y: Array) -> Array:
    """Powers, roots and lengths."""
    mp = mpmath
    return _all(
        *(
            exact(mp.power, x, y),
            exact(mp.sqrt, x),
            exact(lambda v: 1 / mp.sqrt(v), x),
            exact(lambda v: -mp.cbrt(v), x),
        ),
        *(exact(lambda v: 1 / mp.cbrt(v), x), exact(mp.hypot, x, y), exact(lambda v, w: 1 / mp.hypot(v, w), x, y)),
        exact(lambda v, w: mp.sqrt(v * v + w * w + 4), x, y),
        exact(lambda v, w: mp.sqrt(v * v + w * w + 13), x, y),
        exact(lambda v, w: 1 / mp.sqrt(v * v + w * w + 4), x, y),
        exact(lambda v: v**-3, x),
    )


@math.program(
    x=numbers(40, 5, -2.5, 5), y=np.concatenate([numbers(38, 6, -0.999, 0.999), _singles(1e-3, -0.99999)]), ulp=4
)
def error_functions(x: Array, y: Array) -> Array:
    """The error function, its inverse and the normal distribution."""
    mp = mpmath

    def quantile(p: Any) -> Any:
        return mp.sqrt(2) * mp.erfinv(2 * p - 1)

    return _all(
        *(exact(mp.erf, x), exact(mp.erfc, x), exact(mp.erfinv, y), exact(lambda v: mp.erfinv(1 - v), 1 + y)),
        *(exact(lambda v: mp.exp(v * v) * mp.erfc(v), x), exact(mp.ncdf, x), exact(quantile, _F(0.5) + y / 2)),
    )


@math.program(x=numbers(40, 7, 0.3, 9), ulp=6, atol=1e-6)
def gamma_and_bessel(x: Array) -> Array:
    """The gamma function, its logarithm, and Bessel functions of all kinds."""
    mp = mpmath

    def log_gamma(v: Any) -> Any:
        return mp.log(abs(mp.gamma(v)))

    orders = [lambda v, n=n: mp.besselj(n, v) for n in (0, 1, 2)] + [lambda v, n=n: mp.bessely(n, v) for n in (0, 1, 3)]
    orders += [lambda v, n=n: mp.besseli(n, v) for n in (0, 1)]
    return _all(
        *(exact(mp.gamma, x), exact(log_gamma, x), exact(log_gamma, -x - _F(0.3))),
        *(exact(order, x) for order in orders),
    )


@math.program(x=_X.astype(np.float64), y=_Y.astype(np.float64), ulp=8)
def doubles(x: Array, y: Array) -> Array:
    """The same in double precision."""
    mp, size = mpmath, np.abs(x)
    return _all(
        *(exact(mp.exp, x), exact(mp.log, size), exact(mp.power, size, y), exact(mp.sin, x), exact(mp.tan, x)),
        *(exact(mp.atan2, x, y), exact(mp.tanh, x), exact(mp.expm1, y), exact(mp.erf, y), exact(mp.erfc, x / 4)),
        *(exact(mp.gamma, np.abs(y) + 1), exact(lambda v: mp.sign(v) * mp.cbrt(abs(v)), x), exact(mp.hypot, x, y)),
        *(exact(lambda v: 1 / mp.sqrt(v), size), exact(mp.log1p, np.abs(y)), exact(mp.erfinv, y), exact(mp.ncdf, y)),
        *(exact(lambda v: mp.power(10, v), y), exact(mp.sinpi, y), exact(mp.acosh, 1 + size)),
    )


@math.program(
    x=np.concatenate(
        [_singles(0.5, 1.5, 2.5, -0.5, -1.5, 0.0, -0.0, 8388609, 0.49999997, -2.0), numbers(50, 8, -99, 99)]
    )
)
def rounding(x: Array) -> Array:
    """Halves go away from zero by round, to even by rint; zeros keep their sign, where the result is a float."""
    away = np.copysign(np.floor(np.abs(x.astype(np.float64)) + 0.5), x).astype(_F)
    even = np.rint(x)
    whole = [(one + _F(0)) for one in (even, away, even, away)]  # integers have no negative zero
    return _all(away, even, even, np.trunc(x), np.floor(x), np.ceil(x), *whole)


_SPECIAL = _singles(np.nan, np.inf, -np.inf, 0.0, 1.0, -2.0, 3.0)
_LEFT, _RIGHT = (np.ascontiguousarray(side.ravel()) for side in np.meshgrid(_SPECIAL, _SPECIAL))


@math.program(x=np.append(_LEFT, _singles(-0.0, 1, -1)), y=np.append(_RIGHT, _singles(-1, -0.0, -0.0)), ulp=1)
def special_values(x: Array, y: Array) -> Array:
    """Infinities, NaN and zeros, as C's Annex F has them."""
    with np.errstate(all="ignore"):
        a, b = x.astype(np.float64), y.astype(np.float64)
        kinds = np.isnan(x) + 2.0 * np.isinf(y) + 4.0 * np.signbit(x) + 8.0 * np.isfinite(y)
        difference = np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(a > b, a - b, 0))
        results = [np.fmax(a, b), np.fmin(a, b), np.power(a, b), np.arctan2(a, b), np.fmod(a, b), np.hypot(a, b), a / b]
        results += [np.sqrt(a), np.log(a), np.exp(a), np.tanh(a), difference, np.copysign(a, b), kinds]
    return _all(*results).astype(_F)


@math.program(x=np.ldexp(numbers(60, 9, 1, 2), integers(60, 9, -135, -127)).astype(_F), ulp=1)
def subnormals(x: Array) -> Array:
    """Single precision keeps subnormal numbers, in arithmetic and in functions."""
    tiny, wide = _F(2.0**-130), x.astype(np.float64)
    results = [wide * 0.5, wide + 2.0**-149, wide * 0.25 + 2.0**-140, np.sqrt(wide), _F(1e-20) / (x * _F(1e20))]
    return _all(*results, np.exp(-95 - wide), tiny / _F(3) + x, np.abs(x)).astype(_F)


@math.program(
    x=np.concatenate([_POSITIVE, _singles(1e-40, -1e-40, 1e-45, 2.0**-126, 3e38, 1.0, 126.5, 140.0, 2.0**127, 0.0)]),
    ulp=1,
)
def flushed(x: Array) -> Array:
    """Approximations take subnormal numbers for zero and give none; v_ldexp_f32 keeps them."""

    def flush(values: Array) -> Array:
        return np.where(np.abs(values) < 2.0**-126, np.copysign(0, values), values)

    with np.errstate(all="ignore"):
        wide = flush(x.astype(np.float64))
        results = [flush(1 / wide), 1 / np.sqrt(wide), np.sqrt(wide), np.log2(wide), flush(np.exp2(-wide))]
        return _all(*results, np.ldexp(x.astype(np.float64), -20)).astype(_F)


@math.program(x=np.concatenate([_X, numbers(20, 4, -80, 80)]), y=numbers(80, 5, 0.5, 2), ulp=2)
def fast_functions(x: Array, y: Array) -> Array:
    """The forms with underscores: a product in single precision, then an instruction that is good to one unit."""
    wide, size = x.astype(np.float64), np.abs(x).astype(np.float64)
    two_to = [
        np.exp2((x * _F(1.44269502)).astype(np.float64)),
        np.exp2((x / _F(8) * _F(3.32192802)).astype(np.float64)),
    ]
    logs = [np.log(size), np.log2(size), np.log10(size), size ** y.astype(np.float64)]
    results = [*two_to, *logs, wide / y, 1 / wide, 1 / np.sqrt(size), np.sqrt(size), np.clip(wide, 0, 1), np.exp2(wide)]
    return _all(*results).astype(_F)


@math.program(x=np.concatenate([numbers(60, 6, -7, 7), numbers(20, 7, -200, 200)]), ulp=2, atol=1e-7)
def fast_trigonometry(x: Array) -> Array:
    """__sinf multiplies by 1/(2 pi) in single precision; the instruction counts in turns."""
    turns = x * _F(0.15915494)
    waves = [
        exact(function, 2 * values.astype(np.float64))
        for values in (turns, x)
        for function in (mpmath.sinpi, mpmath.cospi)
    ]
    return _all(*waves).astype(_F)


_FACTORS = {"x": numbers(100, 10), "y": numbers(100, 11), "z": numbers(100, 12)}


@math.program(**_FACTORS)
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
    return _all(once, once, once, negative)


@math.program(**_FACTORS)
def unfused(x: Array, y: Array, z: Array) -> Array:
    """Where a pragma forbids contraction, both operations round."""
    return x * y + z


@math.program(
    x=np.concatenate([_X, _singles(np.inf, -np.inf, 0.0, 1e-40, -1e-9)]),
    y=np.append(_Y, _singles(1, 2, 3, 4, 5)),
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
    return _all(middle, fraction, mantissa, exponent, wide * 32, np.fmax(np.fmin(x, y), z), kinds).astype(_F)


@math.program(x=numbers(60, 13, 0.05, 8))
def halves_of_instructions(x: Array) -> Array:
    """The instructions of half precision round once."""
    h = x.astype(np.float16)
    wide = h.astype(np.float64)
    mantissa, exponent = np.frexp(wide)
    square = (x * x).astype(np.float16).astype(np.float64)
    results = [wide - np.floor(wide), wide * 8, mantissa, exponent, 1 / wide, np.sqrt(square), np.clip(wide, -1, 1)]
    return _all(*results).astype(np.float16).astype(_F)


@math.program(
    x=np.concatenate([numbers(60, 14, -100, 100), _singles(1e30, -5.5, 7)]),
    y=np.concatenate([numbers(60, 15, 0.1, 9), _singles(0.7, 2, -2)]),
)
def remainders(x: Array, y: Array) -> tuple[Array, Array]:
    """Remainders are exact, of the quotient cut off and of the nearest one."""
    pairs = [(float(a), float(b)) for a, b in zip(x, y, strict=True)]
    cut, near = [libm.fmod(a, b) for a, b in pairs], [libm.remainder(a, b) for a, b in pairs]
    quotients = [round(Fraction(a) / Fraction(b)) & 7 for a, b in pairs]
    parts = [x - np.trunc(x), np.trunc(x)]
    return _all(np.array(cut), np.array(near), np.array(near), *parts, np.array(cut)).astype(_F), np.array(
        quotients, np.int32
    )


@math.program(x=np.concatenate([_X, _singles(1.0, -8.0, 0.0, 1e-40, np.inf, np.nan)]))
def parts(x: Array) -> tuple[Array, Array]:
    """Mantissa, exponent, whole part and neighbour; ilogb of zero is INT_MIN, of infinity and NaN INT_MAX."""
    finite = np.where(np.isfinite(x), x, 1).astype(_F)
    mantissa, exponent = np.frexp(finite.astype(np.float64))
    odd = ~np.isfinite(x)
    with np.errstate(all="ignore"):
        scale = np.where(x == 0, -np.inf, np.where(odd, x, exponent - 1))
        logb = np.where(x == 0, -(2**31), np.where(odd, 2**31 - 1, exponent - 1))
        fraction = np.where(np.isinf(x), 0, x - np.trunc(x))
        scaled = [x.astype(np.float64) / 8, x.astype(np.float64) * 128]
        floats = [
            np.where(odd, x, mantissa),
            *scaled,
            scale,
            np.nextafter(x, _F(1000)),
            np.copysign(fraction, x),
            np.trunc(x),
        ]
    return _all(*floats).astype(_F), _all(np.where(odd, 0, exponent), logb).astype(np.int32)


def _saturated(values: Array, low: int, high: int) -> Array:
    """Cut off, within the range; NaN is 0."""
    wide = np.nan_to_num(values.astype(np.float64), nan=0, posinf=1e300, neginf=-1e300)
    return np.array([min(max(int(value), low), high) for value in wide], np.int64)


@math.program(x=_EDGES)
def to_integers(x: Array) -> tuple[Array, ...]:
    """v_cvt_i32_f32 and its like saturate, and give 0 for NaN."""
    signed, unsigned = (-(2**31), 2**31 - 1), (0, 2**32 - 1)
    even = np.rint(x)
    words = [_saturated(values, *signed) for values in (x, even, np.floor(x), np.ceil(x), even)]
    unsigneds = [_saturated(values, *unsigned) for values in (x, even, x)]
    longs = _saturated(np.fmin(np.fmax(even, _F(-1e18)), _F(1e18)), -(2**63), 2**63 - 1)
    return (
        *(_all(*words).astype(np.int32), _all(*unsigneds).astype(np.uint32)),
        *(words[0].astype(np.uint8), words[0].astype(np.int16), longs),
    )


@math.program(x=_EDGES)
def vectors_to_integers(x: Array) -> tuple[Array, ...]:
    """The same for clang's vectors; half precision is converted to sixteen bits."""
    words = _saturated(x, -(2**31), 2**31 - 1)
    with np.errstate(over="ignore"):
        shorts = _saturated(x.astype(np.float16), 0, 2**16 - 1)
    return words.astype(np.int32), words.astype(np.uint8), shorts.astype(np.uint16)


@math.program(x=integers(80, 1, -(2**62), 2**62, np.int64))
def from_integers(x: Array) -> tuple[Array, Array]:
    """Integers too long for a mantissa are rounded as the suffix says."""
    longs = [int(value) for value in x]
    words = [value >> 20 for value in longs]
    words = [(word + 2**31) % 2**32 - 2**31 for word in words]
    plain = [word % 2**32 for word in words]
    floats = [toward(words, mode, _F) for mode in ("rn", "rz", "rd", "ru")]
    floats += [toward(plain, "rn", _F), toward(longs, "rn", _F), toward(longs, "ru", _F)]
    floats.append(toward([value % 2**64 for value in longs], "rz", _F))
    return _all(*floats), _all(
        toward(longs, "rn", np.float64), toward(longs, "rd", np.float64), np.array(plain, np.float64)
    )


@math.program(x=numbers(60, 16, -1e5, 1e5, np.float64))
def bit_casts(x: Array) -> tuple[Array, ...]:
    """Bits of doubles and floats; doubles to floats in each rounding mode."""
    bits, single = x.view(np.int64), x.astype(_F)
    halves = bits.view(np.int32).reshape(-1, 2)
    longs = [bits, halves[:, 1], halves[:, 0], single.view(np.int32)]
    rounded = [toward([Fraction(value) for value in x], mode, _F) for mode in ("rd", "ru", "rz")]
    high = (bits & ~np.int64(0xFFFFFFFF)).view(np.float64)
    return _all(*longs).astype(np.int64), _all(-x, high), _all(np.abs(single), *rounded)


@math.program(
    x=integers(80, 1, -(2**31), 2**31), y=np.append(integers(78, 2, -(2**31), 2**31), [7, -1]).astype(np.int32)
)
def integers_(x: Array, y: Array) -> tuple[Array, Array]:
    """Extremes, upper halves of products, means without overflow, distances."""
    rows, wides = [], []
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        ua, ub = a % 2**32, b % 2**32
        short = [(v & 0xFFFFFF) - (v << 1 & 0x1000000) for v in (a, b)]
        row = [min(a, b), max(a, b), min(ua, ub), abs(a), a * b >> 32, ua * ub >> 32, short[0] * short[1]]
        row += [(a & 0xFFFFFF) * (b & 0xFFFFFF), a + b >> 1, a + b + 1 >> 1, ua + ub >> 1, ua + ub + 1 >> 1]
        rows.append([*row, abs(a - b) + 5, abs(ua - ub) + 5, ua % 7, libm.trunc(Fraction(a, 3))])
        p, q = (((v + 2**63) % 2**64) - 2**63 for v in (a * 1000003 * b, b * 99991 + a))
        wides.append([p * q >> 64, (p % 2**64) * (q % 2**64) >> 64, abs(p), min(p, q)])
    wide = [[(v + 2**63) % 2**64 - 2**63 for v in row] for row in wides]
    words = [[v % 2**32 for v in row] for row in rows]
    return np.array(words, np.uint32).T.ravel(), np.array(wide, np.int64).T.ravel()


@math.program(x=np.append(integers(80, 1, -(2**63), 2**63 - 1, np.int64), [0, 1, -1, 2**32]).astype(np.int64))
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


@math.program(
    x=np.concatenate(
        [
            numbers(400, 17),
            np.ldexp(numbers(400, 18, 1, 2), integers(400, 18, -140, 127)).astype(_F),
            _singles(0, 1, np.inf, np.nan, 5),
        ]
    ),
    y=np.concatenate(
        [
            numbers(400, 19),
            np.ldexp(numbers(400, 20, 1, 2), integers(400, 20, -140, 127)).astype(_F),
            _singles(3, 0, 2, 1, np.inf),
        ]
    ),
)
def division(x: Array, y: Array) -> Array:
    """div_scale, div_fmas and div_fixup give the correctly rounded quotient, whatever the exponents."""
    with np.errstate(all="ignore"):
        return x / y


@math.program(x=np.append(numbers(60, 21, 0.1, 9, np.float64), [3.0, 1e100]), ulp=1)
def coarse_reciprocal(x: Array) -> tuple[Array, Array]:
    """v_rcp_f64 is good to 2^29 units in the last place only."""
    return np.ones(len(x), np.int32), 1 / x


@math.program(x=numbers(100, 22), y=numbers(100, 23), ulp=16, atol=1e-6)
def complex_numbers(x: Array, y: Array) -> tuple[Array, Array]:
    """hipFloatComplex: products, quotients, conjugates and sizes."""
    a, b = (side.astype(np.float64).view(np.complex128) for side in (x, y))
    results = np.concatenate([a * b, a / b, a.conj() + (1 + 2j)])
    return results.view(np.float64).astype(_F), np.abs(a).astype(_F)


@math.cases()
async def test_math(machine: Machine, program: Program, tmp_path: Path) -> None:
    """Each program does what its twin says."""
    await machine.check(program, tmp_path)
