"""Elementwise operations of the builder: what each computes on arrays of held values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl

from kernelvault.replay.triton.interpreter.error_function import erf
from kernelvault.replay.triton.interpreter.formats import Array, held, round_to

Binary = Callable[[Any, Any], Array]

FLOAT_BINARY: dict[str, Binary] = {
    "fadd": np.add,
    "fsub": np.subtract,
    "fmul": np.multiply,
    "fdiv": np.divide,
    "precise_divf": np.divide,
    "frem": np.fmod,
    "minimumf": np.minimum,
    "maximumf": np.maximum,
    # The other operand, where one is NaN.
    "minnumf": np.fmin,
    "maxnumf": np.fmax,
}
INTEGER_BINARY: dict[str, Binary] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "shl": np.left_shift,
    "minsi": np.minimum,
    "minui": np.minimum,
    "maxsi": np.maximum,
    "maxui": np.maximum,
    # Towards zero, unlike numpy's remainder.
    "srem": np.fmod,
    "urem": np.fmod,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
COMPARISONS: dict[str, Binary] = {
    **{f"icmp{sign}{name}": operation for sign in "SU" for name, operation in (
        ("LE", np.less_equal), ("LT", np.less), ("GE", np.greater_equal), ("GT", np.greater),
    )},
    "icmpEQ": np.equal,
    "icmpNE": np.not_equal,
    "fcmpOLT": np.less,
    "fcmpOGT": np.greater,
    "fcmpOLE": np.less_equal,
    "fcmpOGE": np.greater_equal,
    "fcmpOEQ": np.equal,
    "fcmpUNE": np.not_equal,
    # Ordered: false where an operand is NaN. Unordered: true.
    "fcmpONE": lambda x, y: (x < y) | (x > y),
    "fcmpULT": lambda x, y: ~(x >= y),
    "fcmpUGT": lambda x, y: ~(x <= y),
    "fcmpULE": lambda x, y: ~(x > y),
    "fcmpUGE": lambda x, y: ~(x < y),
    "fcmpUEQ": lambda x, y: ~((x < y) | (x > y)),
}  # fmt: skip
UNARY: dict[str, Callable[[Any], Array]] = {
    "fabs": np.abs,
    "iabs": np.abs,
    "cos": np.cos,
    "sin": np.sin,
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sqrt": np.sqrt,
    "precise_sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": erf,
}


def divide_towards_zero(x: Array, y: Array) -> Array:
    """Integer division as C's; a division by zero gives zero."""
    return ((x - np.fmod(x, y)) // y).astype(x.dtype)


def shift_right_logically(x: Array, y: Array) -> Array:
    """Zeros come in from the left, whatever the sign."""
    unsigned = x.dtype.str.replace("i", "u")
    return (x.view(unsigned) >> y.astype(unsigned)).view(x.dtype)


def multiply_high(x: Array, y: Array) -> Array:
    """The upper half of the product of unsigned integers."""
    bits = 8 * x.dtype.itemsize
    if bits < 64:
        unsigned, wide = np.dtype(f"u{x.dtype.itemsize}"), np.dtype(f"u{2 * x.dtype.itemsize}")
        product = x.view(unsigned).astype(wide) * y.view(unsigned).astype(wide)
        return (product >> bits).astype(unsigned).view(x.dtype)
    x, y = np.broadcast_arrays(x, y)
    a, b = x.astype(np.uint64), y.astype(np.uint64)
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    middle = (a0 * b0 >> half) + (a1 * b0 & low) + (a0 * b1 & low)
    return (a1 * b1 + (a1 * b0 >> half) + (a0 * b1 >> half) + (middle >> half)).astype(x.dtype)


def convert(values: Array, target: tl.dtype) -> Array:
    """Values of one type as those of another: floats are rounded, integers cut off, floats made integers saturate."""
    to = held(target)
    if target.is_floating():
        if values.dtype == np.float64 and to == np.float32:
            return round_to(values.astype(np.float32), target)
        return round_to(values.astype(to, copy=False), target)
    if values.dtype.kind == "f":
        return _to_integer(values, to)
    return values.astype(to, copy=False)


def towards_zero(values: Array, target: tl.dtype) -> Array:
    """Floats as those of a narrower type, never larger in magnitude; NotImplementedError for 8 bits."""
    if target.name == "bf16":
        return (np.ascontiguousarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    if target.primitive_bitwidth == 8:
        raise NotImplementedError(f"rounding to {target} towards zero")
    nearest = values.astype(held(target))
    return np.where(np.abs(nearest) > np.abs(values), np.nextafter(nearest, nearest.dtype.type(0)), nearest)


def _to_integer(values: Array, to: np.dtype[Any]) -> Array:
    """As the hardware converts: to 32 bits or 64 with saturation, NaN is zero; what is narrower is cut off."""
    wide = np.dtype(np.int64 if to.itemsize == 8 else np.int32)
    if to.kind == "u":
        wide = np.dtype(f"u{wide.itemsize}")
    bounds: Any = np.iinfo(wide)
    exact = values.astype(np.float64)
    if exact.size and (not np.isfinite(exact).all() or exact.max() >= bounds.max or exact.min() <= bounds.min):
        return _saturated(exact, wide).astype(to)
    return exact.astype(wide).astype(to)


def _saturated(values: Array, to: np.dtype[Any]) -> Array:
    bounds: Any = np.iinfo(to)
    whole = np.trunc(np.nan_to_num(values, nan=0.0))
    inside = (whole > float(bounds.min)) & (whole < float(bounds.max))
    result = np.where(inside, whole, 0.0).astype(to)
    result[whole >= float(bounds.max)] = bounds.max
    result[whole <= float(bounds.min)] = bounds.min
    return result


def matrix_product(a: Array, b: Array, c: Array, integers: bool) -> Array:
    """a @ b + c, accumulated in float32 (in float64 for doubles, exactly for integers), rounded to c's type once."""
    if integers:  # of 8 bits: float64 holds every sum
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64).astype(c.dtype) + c
    wide = np.float64 if a.dtype == np.float64 else np.float32
    product = np.matmul(a.astype(wide, copy=False), b.astype(wide, copy=False))
    return (product + c.astype(wide, copy=False)).astype(c.dtype, copy=False)
