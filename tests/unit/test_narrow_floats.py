"""Floating-point formats that numpy lacks, from and to float32."""

from __future__ import annotations

import numpy as np
import pytest

from kernelvault.replay import conversion, narrow_floats
from kernelvault.v1 import kernel_pb2

EIGHT_BITS = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]


@pytest.mark.parametrize("dtype", EIGHT_BITS)
def test_codes_survive(dtype: str) -> None:
    """Every number that a format has is encoded as its own code."""
    codes = np.arange(256, dtype=np.uint8)
    values = narrow_floats.table(dtype)
    plain = ~np.isnan(values)
    assert np.array_equal(narrow_floats.encode(values, dtype)[plain], codes[plain])
    assert np.isnan(narrow_floats.table(dtype)[narrow_floats.encode(values[~plain], dtype)]).all()


@pytest.mark.parametrize("dtype", EIGHT_BITS)
def test_nearest_with_ties_to_even(dtype: str) -> None:
    """A number halfway between two becomes the one with an even code."""
    values = narrow_floats.table(dtype)[:0x7B].astype(np.float64)
    middles = (values[:-1] + values[1:]) / 2
    codes = np.arange(0x7A)
    assert np.array_equal(narrow_floats.encode(middles, dtype), codes + codes % 2)
    assert np.array_equal(narrow_floats.encode(middles * (1 + 1e-9), dtype), codes + 1)


def test_too_large_numbers() -> None:
    """Infinity where there is one, the largest number of `float8_e4m3fn`, NaN elsewhere."""
    large = np.float32([1e9, -1e9])
    decoded = {d: narrow_floats.table(d)[narrow_floats.encode(large, d)].tolist() for d in EIGHT_BITS}
    assert decoded["float8_e5m2"] == [np.inf, -np.inf]
    assert decoded["float8_e4m3fn"] == [448, -448]
    assert np.isnan(decoded["float8_e4m3fnuz"] + decoded["float8_e5m2fnuz"]).all()
    saturated = narrow_floats.encode(large, "float8_e5m2", saturate=True)
    assert narrow_floats.table("float8_e5m2")[saturated].tolist() == [57344, -57344]


def test_bfloat16_rounds_to_even() -> None:
    """A tie between two bfloat16 numbers goes to the even one; NaN stays NaN."""
    values = np.array([0x3F808000, 0x3F818000, 0x3F808001, 0x7F800001], np.uint32).view(np.float32)
    assert narrow_floats.encode(values, "bfloat16").tolist() == [0x3F80, 0x3F82, 0x3F81, 0x7FC0]


def test_strided_conversion() -> None:
    """A view is copied element by element and converted."""
    source = np.arange(6, dtype=np.float32)
    to = np.zeros(8, np.uint16)
    conversion.copy(
        memoryview(source).cast("B"),
        kernel_pb2.TensorView(dtype="float32", dims=[2, 3], strides=[3, 1]),
        memoryview(to).cast("B"),
        kernel_pb2.TensorView(dtype="bfloat16", dims=[2, 3], strides=[1, 2], offset_elements=1),
    )
    decoded = narrow_floats.decode(memoryview(to).cast("B"), "bfloat16")
    assert decoded.tolist() == [0, 0, 3, 1, 4, 2, 5, 0]
