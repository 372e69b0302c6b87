"""The error function on arrays."""

from __future__ import annotations

import math

import numpy as np

from kernelvault.replay.triton.interpreter.error_function import erf


def test_error_function_is_python_s() -> None:
    """Each element is what Python's own function gives, to the last place."""
    x = np.concatenate([np.linspace(-7, 7, 20001), np.geomspace(1e-300, 1, 100), [0.0, -0.0, np.inf, -np.inf]])
    expected = np.array([math.erf(value) for value in x])
    np.testing.assert_array_max_ulp(erf(x), expected, maxulp=2)
    assert np.isnan(erf(np.array([np.nan])))[0]


def test_type_and_shape_stay() -> None:
    """float32 in, float32 out."""
    made = erf(np.full((2, 3), 0.5, np.float32))
    assert (made.dtype, made.shape) == (np.float32, (2, 3))
    assert made[0, 0] == np.float32(math.erf(0.5))
