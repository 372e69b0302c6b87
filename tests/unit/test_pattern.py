"""What stands in for floating-point inputs where accesses are only counted."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np
import pytest

from kernelvault.replay import bundle, pattern
from kernelvault.sandbox import memory

FLOATS = [dtype for dtype in bundle.DTYPES if pattern.stands_in_for(dtype)]


def numbers(dtype: str) -> np.ndarray:
    """The pattern decoded."""
    data = pattern.data(dtype)
    view = bundle.contiguous_view(dtype, [len(data) // bundle.element_bytes(dtype)])
    return bundle.to_numpy(bundle.Item("", view, memoryview(data))).astype(np.float64)


def test_floating_point_only() -> None:
    """Integers and booleans are never replaced: addresses follow from them."""
    assert set(bundle.DTYPES) - set(FLOATS) == {"int64", "int32", "int16", "int8", "uint8", "bool"}


@pytest.mark.parametrize("dtype", FLOATS)
def test_patterns_are_finite_and_of_both_signs(dtype: str) -> None:
    """No format has a NaN or an infinity in it, which could end a loop early."""
    values = numbers(dtype)
    assert pattern.data(dtype) == pattern.data(dtype)
    assert len(pattern.data(dtype)) == pattern.SIZE_BYTES
    assert np.isfinite(values).all()
    assert abs(values.mean()) < 0.05
    assert abs(values).max() < 4


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_wide_patterns_are_normal(dtype: str) -> None:
    """As `torch.randn` would draw them."""
    assert numbers(dtype).std() == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("size", [1, 4096, pattern.SIZE_BYTES, 2 * pattern.SIZE_BYTES + 5001])
def test_a_pattern_fills_memory_to_the_last_byte(size: int) -> None:
    """It repeats, the byte after it is as it was, and writing there leaves the pattern alone."""
    data = pattern.data("float32")
    descriptor = memory.sealed(data)
    room = mmap.mmap(-1, size + 4096)
    pattern.spread(ctypes.addressof(ctypes.c_char.from_buffer(room)), size, descriptor)
    assert room[: size + 1] == (data * 3)[:size] + b"\0"
    room[0] ^= 0xFF
    assert mmap.mmap(descriptor, 0, prot=mmap.PROT_READ)[:] == data


def test_what_is_left_out_is_read_back() -> None:
    """A bundle says by dtype what a pattern stands in for; integers and numbers are not."""
    zeros = memoryview(bytes(8))
    items = [
        pattern.left_out("x", "bfloat16"),
        bundle.Item("i", bundle.contiguous_view("int64", [1]), zeros),
        bundle.Item("y", bundle.contiguous_view("float32", [2]), zeros),
        bundle.Item("n", scalar=3),
    ]
    assert pattern.stand_ins(bundle.read(bundle.pack(items))) == {"bfloat16"}
