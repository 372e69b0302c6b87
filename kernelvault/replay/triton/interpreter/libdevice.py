"""The functions of device libraries by their symbols: AMD's `__ocml_*`, NVIDIA's `__nv_*`, Triton's own."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from kernelvault.replay.triton.interpreter.error_function import erf
from kernelvault.replay.triton.interpreter.formats import Array

_PREFIX = re.compile(r"^__(nv|ocml|triton_hip)_")
_TYPED = re.compile(r"^[fd](add|sub|mul|div|rcp|sqrt)$")
_SUFFIX = re.compile(r"_(f16|f32|f64)$|_(r[nzdu])$")


def _each(function: Callable[..., float]) -> Callable[..., Array]:
    """A function of floats, element by element; NaN where it has no value."""

    def guarded(*values: float) -> float:
        try:
            return function(*values)
        except (ValueError, OverflowError):
            return math.nan if any(map(math.isnan, values)) else math.inf

    return np.vectorize(guarded, otypes=[np.float64])


def _round_half_away(x: Array) -> Array:
    return np.trunc(x + np.copysign(0.5, x)) if x.dtype == np.float64 else _round_half_away(x.astype(np.float64))


def _gamma(x: float) -> float:
    return math.copysign(math.inf, x) if x == 0 else math.gamma(x)


def _population(x: Array) -> Array:
    return np.bitwise_count(x.view(x.dtype.str.replace("i", "u")))


def _leading_zeros(x: Array) -> Array:
    bits = 8 * x.dtype.itemsize
    unsigned = x.view(x.dtype.str.replace("i", "u")).astype(np.uint64)
    for shift in (1, 2, 4, 8, 16, 32):
        unsigned = unsigned | (unsigned >> np.uint64(shift))
    return bits - np.bitwise_count(unsigned).astype(np.int32)


def _normal_quantile(x: float) -> float:
    from statistics import NormalDist

    if x in (0.0, 1.0):
        return math.copysign(math.inf, x - 0.5)
    return NormalDist().inv_cdf(x)


_NORMAL = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)), otypes=[np.float64])
_OF_NUMPY: tuple[str, ...] = (
    "tanh",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "sinh",
)
_OF_NUMPY += ("cosh", "floor", "ceil", "trunc", "rint", "fmod", "hypot", "copysign", "fmin", "fmax", "isnan", "isinf")
_OF_NUMPY += ("isfinite", "cbrt", "ldexp", "signbit", "nextafter")
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(np, name) for name in _OF_NUMPY
} | {
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "pow": np.power, "powi": np.power, "pown": np.power, "powr": np.power,
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "erf": erf,
    "erfc": _each(math.erfc),
    "erfcx": _each(lambda x: math.exp(x * x) * math.erfc(x)),
    "erfinv": _each(lambda x: _normal_quantile((x + 1) / 2) / math.sqrt(2)),
    "normcdf": _NORMAL,
    "normcdfinv": _each(_normal_quantile),
    "tgamma": _each(_gamma),
    "lgamma": _each(math.lgamma),
    "nearbyint": np.rint,
    "llrint": np.rint,
    "round": _round_half_away,
    "llround": _round_half_away,
    "fabs": np.abs, "abs": np.abs, "iabs": np.abs, "llabs": np.abs,
    "remainder": lambda x, y: x - y * np.rint(x / y),
    "fdim": lambda x, y: np.where(np.isnan(x) | np.isnan(y), np.nan, np.maximum(x - y, 0)),
    "fma": lambda x, y, z: x.astype(np.float64) * y + z,
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "rcp": lambda x: 1 / x,
    "sinpi": lambda x: np.sin(np.pi * np.fmod(x, 2)),
    "cospi": lambda x: np.cos(np.pi * np.fmod(x, 2)),
    "tanpi": lambda x: np.tan(np.pi * np.fmod(x, 1)),
    "isinfd": np.isinf, "isnand": np.isnan, "isfinited": np.isfinite, "finite": np.isfinite, "finitef": np.isfinite,
    "isfinitef": np.isfinite,
    "signbitd": np.signbit,
    "logb": lambda x: np.floor(np.log2(np.abs(x))),
    "ilogb": lambda x: np.floor(np.log2(np.abs(x))),
    "scalbn": np.ldexp,
    "i0": np.i0, "cyl_bessel_i0": np.i0,
    "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "saturate": lambda x: np.clip(np.nan_to_num(x, nan=0.0), 0, 1),
    "min": np.minimum, "max": np.maximum, "umin": np.minimum, "umax": np.maximum,
    "llmin": np.minimum, "llmax": np.maximum, "ullmin": np.minimum, "ullmax": np.maximum,
    "popc": _population, "popcll": _population,
    "clz": _leading_zeros, "clzll": _leading_zeros,
    "ffs": lambda x: np.where(x == 0, 0, np.bitwise_count((x & -x) - 1).astype(np.int32) + 1),
    "hadd": lambda x, y: ((x.astype(np.int64) + y) >> 1).astype(x.dtype),
    "float_as_int": lambda x: x.view(np.int32), "int_as_float": lambda x: x.view(np.float32),
    "float_as_uint": lambda x: x.view(np.uint32), "uint_as_float": lambda x: x.view(np.float32),
    "double_as_longlong": lambda x: x.view(np.int64), "longlong_as_double": lambda x: x.view(np.float64),
}  # fmt: skip
_FAST = {
    "fast_exp": "exp", "fast_expf": "exp", "fast_logf": "log", "fast_log2f": "log2", "fast_log10f": "log10",
    "fast_sinf": "sin", "fast_cosf": "cos", "fast_tanf": "tan", "fast_powf": "pow", "fast_dividef": "div",
    "fast_fdividef": "div", "fast_exp10f": "exp10", "fast_tanhf": "tanh", "expf": "exp", "fdividef": "div",
}  # fmt: skip


@functools.cache
def function(symbol: str) -> Callable[..., Any]:
    """What a symbol computes, on arrays; raises NotImplementedError for one that is not known."""
    name = _SUFFIX.sub("", _PREFIX.sub("", symbol))
    # `fabsf` for fabs, `fadd` and `dadd` for add.
    for candidate in (name, _FAST.get(name, ""), name.removesuffix("f"), _TYPED.sub(r"\1", name)):
        if (known := _FUNCTIONS.get(candidate)) is not None:
            return known
    raise NotImplementedError(f"the library function `{symbol}`")
