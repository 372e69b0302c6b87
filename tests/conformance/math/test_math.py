"""Functions of HIP's device library, and instructions behind them.

Tolerances are those of ROCm's "HIP math API" (maximum ULP errors), or what its entry of an instruction in the "AMD
Instinct MI300 ISA" says.
"""

from __future__ import annotations

import math as libm
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from tests.conformance.exact import POSITIVE, X, Y, exact, joined, singles
from tests.conformance.harness import Array, Feature, integers, numbers

math = Feature(__file__)

_F = np.float32


@math.program(x=np.concatenate([X, numbers(20, 4, -80, 80)]), ulp=2)
def exponentials(x: Array) -> Array:
    """Exponential functions and logarithms."""
    size, mp = np.abs(x), mpmath
    return joined(
        *(exact(mp.exp, x), exact(lambda v: mp.power(2, v), x), exact(lambda v: mp.power(10, v), x / 4)),
        *(exact(mp.expm1, x), exact(mp.log, size), exact(lambda v: mp.log(v, 2), size), exact(mp.log10, size)),
        *(exact(mp.log1p, size), exact(mp.expm1, x * _F(1e-4))),
    )


@math.program(
    x=np.concatenate([X, singles(1e4, 1e6, -12345678, 1e20, 3e38)]),
    y=np.concatenate([Y, singles(0.5, -1, 1, 0.25, 0)]),
    ulp=2,
)
def trigonometry(x: Array, y: Array) -> Array:
    """Sine and the like, also of large arguments, and their inverses."""
    mp = mpmath
    return joined(
        *(exact(function, x) for function in (mp.sin, mp.cos, mp.tan)),
        *(exact(mp.sinpi, y), exact(mp.cospi, y), exact(mp.asin, y), exact(mp.acos, y), exact(mp.atan, x)),
        *(exact(mp.atan2, x, y), exact(mp.atan2, y, -np.abs(x))),
    )


@math.program(x=X, y=Y, ulp=2)
def hyperbolic(x: Array, y: Array) -> Array:
    """Hyperbolic functions and their inverses."""
    mp = mpmath
    direct = [exact(function, x) for function in (mp.sinh, mp.cosh, mp.tanh, mp.asinh)]
    return joined(*direct, exact(mp.acosh, 1 + np.abs(x)), exact(mp.atanh, y))


@math.program(x=POSITIVE, y=Y * _F(5), ulp=2)
def powers(x: Array, y: Array) -> Array:
    """Powers, roots and lengths."""
    mp = mpmath
    return joined(
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
    x=numbers(40, 5, -2.5, 5), y=np.concatenate([numbers(38, 6, -0.999, 0.999), singles(1e-3, -0.99999)]), ulp=4
)
def error_functions(x: Array, y: Array) -> Array:
    """The error function, its inverse and the normal distribution."""
    mp = mpmath

    def quantile(p: Any) -> Any:
        return mp.sqrt(2) * mp.erfinv(2 * p - 1)

    return joined(
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
    return joined(
        *(exact(mp.gamma, x), exact(log_gamma, x), exact(log_gamma, -x - _F(0.3))),
        *(exact(order, x) for order in orders),
    )


@math.program(x=X.astype(np.float64), y=Y.astype(np.float64), ulp=8)
def doubles(x: Array, y: Array) -> Array:
    """The same in double precision."""
    mp, size = mpmath, np.abs(x)
    return joined(
        *(exact(mp.exp, x), exact(mp.log, size), exact(mp.power, size, y), exact(mp.sin, x), exact(mp.tan, x)),
        *(exact(mp.atan2, x, y), exact(mp.tanh, x), exact(mp.expm1, y), exact(mp.erf, y), exact(mp.erfc, x / 4)),
        *(exact(mp.gamma, np.abs(y) + 1), exact(lambda v: mp.sign(v) * mp.cbrt(abs(v)), x), exact(mp.hypot, x, y)),
        *(exact(lambda v: 1 / mp.sqrt(v), size), exact(mp.log1p, np.abs(y)), exact(mp.erfinv, y), exact(mp.ncdf, y)),
        *(exact(lambda v: mp.power(10, v), y), exact(mp.sinpi, y), exact(mp.acosh, 1 + size)),
    )


@math.program(
    x=np.concatenate(
        [singles(0.5, 1.5, 2.5, -0.5, -1.5, 0.0, -0.0, 8388609, 0.49999997, -2.0), numbers(50, 8, -99, 99)]
    )
)
def rounding(x: Array) -> Array:
    """Halves go away from zero by round, to even by rint; zeros keep their sign, where the result is a float."""
    away = np.copysign(np.floor(np.abs(x.astype(np.float64)) + 0.5), x).astype(_F)
    even = np.rint(x)
    whole = [(one + _F(0)) for one in (even, away, even, away)]  # integers have no negative zero
    return joined(away, even, even, np.trunc(x), np.floor(x), np.ceil(x), *whole)


_SPECIAL = singles(np.nan, np.inf, -np.inf, 0.0, 1.0, -2.0, 3.0)
_LEFT, _RIGHT = (np.ascontiguousarray(side.ravel()) for side in np.meshgrid(_SPECIAL, _SPECIAL))


@math.program(x=np.append(_LEFT, singles(-0.0, 1, -1)), y=np.append(_RIGHT, singles(-1, -0.0, -0.0)), ulp=1)
def special_values(x: Array, y: Array) -> Array:
    """Infinities, NaN and zeros, as C's Annex F has them."""
    with np.errstate(all="ignore"):
        a, b = x.astype(np.float64), y.astype(np.float64)
        kinds = np.isnan(x) + 2.0 * np.isinf(y) + 4.0 * np.signbit(x) + 8.0 * np.isfinite(y)
        difference = np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(a > b, a - b, 0))
        results = [np.fmax(a, b), np.fmin(a, b), np.power(a, b), np.arctan2(a, b), np.fmod(a, b), np.hypot(a, b), a / b]
        results += [np.sqrt(a), np.log(a), np.exp(a), np.tanh(a), difference, np.copysign(a, b), kinds]
    return joined(*results).astype(_F)


@math.program(x=np.ldexp(numbers(60, 9, 1, 2), integers(60, 9, -135, -127)).astype(_F), ulp=1)
def subnormals(x: Array) -> Array:
    """Single precision keeps subnormal numbers, in arithmetic and in functions."""
    tiny, wide = _F(2.0**-130), x.astype(np.float64)
    results = [wide * 0.5, wide + 2.0**-149, wide * 0.25 + 2.0**-140, np.sqrt(wide), _F(1e-20) / (x * _F(1e20))]
    return joined(*results, np.exp(-95 - wide), tiny / _F(3) + x, np.abs(x)).astype(_F)


@math.program(
    x=np.concatenate([numbers(60, 14, -100, 100), singles(1e30, -5.5, 7)]),
    y=np.concatenate([numbers(60, 15, 0.1, 9), singles(0.7, 2, -2)]),
)
def remainders(x: Array, y: Array) -> tuple[Array, Array]:
    """Remainders are exact, of the quotient cut off and of the nearest one."""
    pairs = [(float(a), float(b)) for a, b in zip(x, y, strict=True)]
    cut, near = [libm.fmod(a, b) for a, b in pairs], [libm.remainder(a, b) for a, b in pairs]
    quotients = [round(Fraction(a) / Fraction(b)) & 7 for a, b in pairs]
    parts = [x - np.trunc(x), np.trunc(x)]
    return joined(np.array(cut), np.array(near), np.array(near), *parts, np.array(cut)).astype(_F), np.array(
        quotients, np.int32
    )


@math.program(x=np.concatenate([X, singles(1.0, -8.0, 0.0, 1e-40, np.inf, np.nan)]))
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
    return joined(*floats).astype(_F), joined(np.where(odd, 0, exponent), logb).astype(np.int32)


@math.program(x=numbers(100, 22), y=numbers(100, 23), ulp=16, atol=1e-6)
def complex_numbers(x: Array, y: Array) -> tuple[Array, Array]:
    """hipFloatComplex: products, quotients, conjugates and sizes."""
    a, b = (side.astype(np.float64).view(np.complex128) for side in (x, y))
    results = np.concatenate([a * b, a / b, a.conj() + (1 + 2j)])
    return results.view(np.float64).astype(_F), np.abs(a).astype(_F)


test_math = math.test()
