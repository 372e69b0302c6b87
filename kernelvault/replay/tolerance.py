"""How far a candidate's output may be from the reference: derived for each case and output from rounding, not guessed.

Let `e` be the output in float64 (exact for our purpose), `w` the same in the working dtype, `s` the output's scale: the
root mean square of `e`. A candidate's element `x` passes where

    |x - e| <= absolute + relative * |e|,    absolute = t * s,    relative = t

The absolute part covers elements that are small because larger ones cancelled, the relative part elements above the
scale. `t` is the greatest of three estimates of honest rounding error, in units of the scale:

1. `ULPS * eps`: eps is the spacing of the output's dtype at 1. Nothing below 8 units in the last place at the output's
   scale is ever asked for. (For formats of 8 bits it is 1: eight steps of them would let zeros pass.)
2. `REFERENCE_FACTOR * max |w - e| / (s + |e|)`: the error that torch itself makes. Another honest order of the same
   operations makes errors of the same size at other elements, hence the maximum and the factor.
3. `SUM_FACTOR * sqrt(n) * u`: torch sums in blocks, and so is more exact than a loop. A sum of n terms in any order has
   an error of about sqrt(n) * u relative to its terms' magnitude, with a constant that makes failure improbable
   (Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 41, 2019,
   theorem 3.1). n is counted while the reference runs (`accumulation`); u is the unit roundoff of the accumulator,
   float32 for all narrower dtypes, as on the matrix cores: summing in float16 is not honest rounding.

The task's stated tolerance (by default that of the output's dtype, below) is the upper limit, read at the output's
scale: `absolute <= max(stated.absolute, stated.relative * s)` and `relative <= stated.relative`; the first estimate is
the lower limit of both and wins. Multiplying in a narrower format than the task's costs 2^-11 (float16) or 2^-8
(bfloat16) of the scale: thousands of times a float32 task's `t`.

Integers and booleans are exact. Where `e` and `w` differ by more than that (an overflow in the working dtype, a
rounding that tips an integer), either is right: `x` passes near `e` or near `w`. NaN and infinities must stand where
the reference has them and nowhere else.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kernelvault.v1 import kernel_pb2

ULPS = 8
REFERENCE_FACTOR = 4
SUM_FACTOR = 4
Array = np.ndarray[Any, Any]

# dtype: spacing at 1, least positive number, stated tolerance (absolute, relative) unless the task says otherwise.
_FORMATS: dict[str, tuple[float, float, tuple[float, float]]] = {
    "float64": (2.0**-52, 2.0**-1074, (1e-8, 1e-8)),
    "float32": (2.0**-23, 2.0**-149, (1e-4, 1e-4)),
    "float16": (2.0**-10, 2.0**-24, (1e-2, 1e-2)),
    "bfloat16": (2.0**-7, 2.0**-133, (2e-2, 2e-2)),
    "float8_e4m3fn": (2.0**-3, 2.0**-9, (0.125, 0.125)),
    "float8_e4m3fnuz": (2.0**-3, 2.0**-10, (0.125, 0.125)),
    "float8_e5m2": (2.0**-2, 2.0**-16, (0.25, 0.25)),
    "float8_e5m2fnuz": (2.0**-2, 2.0**-17, (0.25, 0.25)),
}


def is_floating(dtype: str) -> bool:
    """Whether values of the dtype are compared with a tolerance."""
    return dtype in _FORMATS


def derive(
    dtype: str, exact: Array, working: Array, *, accumulation: int, stated: kernel_pb2.Tolerance
) -> kernel_pb2.Tolerance:
    """The tolerance of one output of one case; `exact` in float64, `working` widened from `dtype`, shapes equal."""
    if not is_floating(dtype):
        return kernel_pb2.Tolerance()
    eps, least, default = _FORMATS[dtype]
    most_absolute, most_relative = (stated.absolute, stated.relative) if _is_set(stated) else default
    finite = np.isfinite(exact) & np.isfinite(working)
    magnitude = np.abs(exact[finite])
    scale = float(np.sqrt(np.mean(np.square(magnitude)))) if magnitude.size else 0.0
    floor = (ULPS if eps < 0.1 else 1) * eps
    t = max(floor, REFERENCE_FACTOR * _own_error(magnitude, exact[finite], working[finite], scale))
    t = max(t, SUM_FACTOR * math.sqrt(max(1, accumulation)) * _accumulator_roundoff(dtype))
    absolute = max(min(t * scale, max(most_absolute, most_relative * scale)), floor * scale, ULPS * least)
    return kernel_pb2.Tolerance(absolute=absolute, relative=max(min(t, most_relative), floor))


def accepted(actual: Array, exact: Array, working: Array, tolerance: kernel_pb2.Tolerance, dtype: str) -> Array:
    """Which elements pass, as booleans; all arrays have one shape."""
    if not is_floating(dtype):
        return np.asarray((actual == exact) | (actual == working))
    return _close(actual, exact, tolerance) | _close(actual, working, tolerance)


def well_conditioned(working: Array, exact: Array, tolerance: kernel_pb2.Tolerance, dtype: str) -> bool:
    """Whether the reference in its own dtype would pass itself: else no honest kernel can be told from a wrong one."""
    return bool(np.all(_close(working, exact, tolerance) if is_floating(dtype) else working == exact))


def _close(actual: Array, expected: Array, tolerance: kernel_pb2.Tolerance) -> Array:
    with np.errstate(invalid="ignore", over="ignore"):
        bound = tolerance.absolute + tolerance.relative * np.abs(expected)
        near = np.isfinite(expected) & (np.abs(actual - expected) <= bound)
    return np.asarray(near | (np.isnan(actual) & np.isnan(expected)) | (np.isinf(expected) & (actual == expected)))


def _own_error(magnitude: Array, exact: Array, working: Array, scale: float) -> float:
    if scale == 0:
        return 0.0
    return float(np.max(np.abs(working - exact) / (scale + magnitude)))


def _accumulator_roundoff(dtype: str) -> float:
    return _FORMATS["float64" if dtype == "float64" else "float32"][0] / 2


def _is_set(stated: kernel_pb2.Tolerance) -> bool:
    return stated.absolute > 0 or stated.relative > 0
