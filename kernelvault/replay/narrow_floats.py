"""Floating-point formats that numpy lacks: bfloat16 and the four of 8 bits, from and to float32.

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
    return table(dtype)[np.frombuffer(data, np.uint8)]


def encode(values: np.ndarray[Any, Any], dtype: str, *, saturate: bool = False) -> np.ndarray[Any, Any]:
    """Numbers rounded to the format, ties to even: its codes, uint16 for bfloat16, else uint8.

    What is too large becomes infinity, or NaN where there is none; the largest number with `saturate` (8 bits only),
    and always of `float8_e4m3fn`, as in torch.
    """
    if dtype == "bfloat16":
        return _encode_bfloat16(np.ascontiguousarray(values, np.float32))
    magnitudes, most = _magnitudes(dtype)
    middles = (magnitudes[:-1] + magnitudes[1:]) / 2
    size = np.abs(values.astype(np.float64))
    codes = np.searchsorted(middles, size, side="left")
    tie = middles[np.minimum(codes, len(middles) - 1)] == size
    codes = np.where(tie & (codes % 2 == 1), codes + 1, codes)
    finite = np.isfinite(values)
    too_large = (codes > most) | ~finite
    special = 0x80 if dtype.endswith("fnuz") else 0x7C if dtype == "float8_e5m2" else 0x7F
    codes = np.where(too_large, np.where(finite & (saturate or dtype == "float8_e4m3fn"), most, special), codes)
    codes = np.where(np.isnan(values), 0x80 if dtype.endswith("fnuz") else 0x7F, codes)
    negative = np.signbit(values) & ((codes != 0) | (not dtype.endswith("fnuz")))
    encoded: np.ndarray[Any, Any] = np.where(negative, codes | 0x80, codes).astype(np.uint8)
    return encoded


def _encode_bfloat16(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    bits = values.view(np.uint32)
    rounded = (bits + (0x7FFF + ((bits >> 16) & 1))) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


@functools.cache
def _magnitudes(dtype: str) -> tuple[np.ndarray[Any, np.dtype[np.float64]], int]:
    """The format's numbers from 0 on, with the one that would come next, and the code of the largest."""
    values = table(dtype)[:0x80].astype(np.float64)
    finite = values[np.isfinite(values)]
    return np.append(finite, 2 * finite[-1] - finite[-2]), len(finite) - 1


@functools.cache
def table(dtype: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """What each code of 8 bits stands for."""
    fraction_bits, bias = _EIGHT_BITS[dtype]
    codes = np.arange(256)
    fraction = (codes & ((1 << fraction_bits) - 1)) / (1 << fraction_bits)
    exponent = (codes & 0x7F) >> fraction_bits
    magnitude = np.where(exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent - bias))
    values = np.where(codes < 128, magnitude, -magnitude).astype(np.float32)
    if dtype.endswith("fnuz"):
        values[0x80] = np.nan
    elif dtype == "float8_e4m3fn":
        values[[0x7F, 0xFF]] = np.nan
    else:
        values[0x7C], values[0xFC] = np.inf, -np.inf
        values[[0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF]] = np.nan
    return values
