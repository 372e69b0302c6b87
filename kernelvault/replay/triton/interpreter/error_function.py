"""The error function on arrays, which numpy lacks: Taylor's series about the nearest of many known places.

With places 1/512 apart and five terms, what is left out is below 1e-18.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_STEPS, _MOST = 512, 6


def erf(values: Array) -> Array:
    """The error function, in the type of the values, to two units in the last place."""
    x = np.abs(values.astype(np.float64))
    known, slope = _known()
    # NaN goes the way of the largest and comes back at the end.
    near = np.fmin(x, _MOST)
    index = np.rint(near * _STEPS).astype(np.intp)
    a = index / _STEPS
    t, b = near - a, a * a
    series = 1 + t * (-a + t * ((2 * b - 1) / 3 + t * (a * (3 - 2 * b) / 6 + t * (4 * b * b - 12 * b + 3) / 30)))
    result = known[index] + slope[index] * t * series
    if np.isnan(values).any():
        result[np.isnan(values)] = np.nan
    return np.copysign(result, values).astype(values.dtype)


@functools.cache
def _known() -> tuple[Array, Array]:
    """Values and slopes at the places."""
    places = np.arange(_MOST * _STEPS + 1) / _STEPS
    values = np.array([math.erf(place) for place in places])
    return values, 2 / math.sqrt(math.pi) * np.exp(-places * places)
