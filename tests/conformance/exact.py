"""Values of functions and roundings in higher precision than what they are compared with."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tests.conformance.harness import Array, numbers

# Arguments of functions: in the middle of the range, within (-1, 1), above zero.
X, Y, POSITIVE = numbers(60, 1, -10, 10), numbers(60, 2, -0.99, 0.99), numbers(60, 3, 0.05, 20)


def singles(*values: float) -> Array:
    """Float32 numbers."""
    return np.array(values, np.float32)


def joined(*values: Array) -> Array:
    """Arrays one after another."""
    return np.concatenate(values)


def exact(function: Callable[..., Any], *arguments: Array) -> Array:
    """`function` of mpmath at each element, with 120 bits, in the arguments' dtype."""
    import mpmath

    with mpmath.workprec(120):
        values = [float(function(*map(mpmath.mpf, map(float, row)))) for row in zip(*arguments, strict=True)]
    return np.array(values).astype(arguments[0].dtype)


def toward(values: list[int | Fraction], mode: str, dtype: Any) -> Array:
    """Exact numbers as floats in the rounding mode of a suffix of HIP's: rn, rz, rd, ru."""
    results = []
    for value in values:
        nearest = dtype(float(value)) if dtype is np.float64 else _single(value)
        above, below = Fraction(float(nearest)) > value, Fraction(float(nearest)) < value
        if (mode == "rd" or (mode == "rz" and value > 0)) and above:
            nearest = np.nextafter(nearest, dtype(-np.inf))
        if (mode == "ru" or (mode == "rz" and value < 0)) and below:
            nearest = np.nextafter(nearest, dtype(np.inf))
        results.append(nearest)
    return np.array(results, dtype)


def _single(value: int | Fraction) -> Any:
    """The nearest float32, ties to even, not by way of float64."""
    guess = np.float32(float(value))
    near = [np.nextafter(guess, np.float32(-np.inf)), guess, np.nextafter(guess, np.float32(np.inf))]
    return min(near, key=lambda n: (abs(Fraction(float(n)) - value), int(n.view(np.uint32)) & 1))
