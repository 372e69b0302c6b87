"""Floating-point formats that numpy lacks: bfloat16 and the four of 8 bits, decoded to float32.

The 8-bit formats are those of the OCP OFP8 specification (`e4m3fn`, `e5m2`) and of AMD's CDNA3 (`e4m3fnuz`, `e5m2fnuz`:
one more in the bias, no negative zero, whose pattern is the only NaN, no infinities).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

# dtype: bits of the fraction, bias of the exponent.
_EIGHT_BITS = {
    "float8_e4m3fn": (3, 7),
    "float8_e5m2": (2, 15),
    "float8_e4m3fnuz": (3, 8),
    "float8_e5m2fnuz": (2, 16),
}


def is_narrow(dtype: str) -> bool:
    """Whether numpy has no type for the dtype."""
    return dtype == "bfloat16" or dtype in _EIGHT_BITS


def decode(data: memoryview, dtype: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The elements in `data`, exactly, as a float32 array with one dimension."""
    if dtype == "bfloat16":
        return (np.frombuffer(data, np.uint16).astype(np.uint32) << 16).view(np.float32)
    return _table(dtype)[np.frombuffer(data, np.uint8)]


@functools.cache
def _table(dtype: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    fraction_bits, bias = _EIGHT_BITS[dtype]
    codes = np.arange(256)
    fraction = (codes & ((1 << fraction_bits) - 1)) / (1 << fraction_bits)
    exponent = (codes & 0x7F) >> fraction_bits
    magnitude = np.where(exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent - bias))
    table = np.where(codes < 128, magnitude, -magnitude).astype(np.float32)
    if dtype.endswith("fnuz"):
        table[0x80] = np.nan
    elif dtype == "float8_e4m3fn":
        table[[0x7F, 0xFF]] = np.nan
    else:
        table[0x7C], table[0xFC] = np.inf, -np.inf
        table[[0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF]] = np.nan
    return table
