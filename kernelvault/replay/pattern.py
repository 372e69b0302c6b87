"""What stands in for floating-point inputs where accesses are only counted: a short run of numbers, over and over.

Which addresses a kernel touches follows from integers, hardly ever from floating-point values, and drawing, writing and
reading gigabytes of these costs more than the counting itself. A sample bundle (`References.sample_inputs`) leaves them
out; the CPU model maps a megabyte of normal variates over the buffer, and only pages that blocks read become memory.
"""

from __future__ import annotations

import ctypes
import functools
import os
import random
import statistics
import struct
from collections.abc import Sequence

from kernelvault.replay import bundle
from kernelvault.v1 import kernel_pb2

_PAGE_BYTES = 4096
# A prime number of pages: rows of a matrix do not repeat one another.
SIZE_BYTES = 257 * _PAGE_BYTES
_READ_WRITE, _PRIVATE_FIXED = 3, 0x12
_FORMATS = {"float64": "<d", "float32": "<f", "float16": "<e"}


def stands_in_for(dtype: str) -> bool:
    """Whether tensors of this dtype are left out of sample bundles."""
    return dtype.startswith(("float", "bfloat"))


def left_out(name: str, dtype: str) -> bundle.Item:
    """The item of a tensor that the pattern stands in for: no elements, no storage."""
    return bundle.Item(name, kernel_pb2.TensorView(dtype=dtype, dims=[0], strides=[1]), memoryview(b""))


def stand_ins(items: Sequence[bundle.Item]) -> set[str]:
    """The dtypes of the items that were left out, or have no elements anyway."""
    views = [item.view for item in items if item.view is not None and item.storage is not None]
    return {view.dtype for view in views if stands_in_for(view.dtype) and 0 in view.dims}


@functools.cache
def data(dtype: str) -> bytes:
    """SIZE_BYTES of a floating-point dtype, normally distributed (of the 8-bit formats: finite, most below 2)."""
    encoded = _encoded(dtype)
    numbers = random.Random(dtype).randbytes(SIZE_BYTES // bundle.element_bytes(dtype))
    return b"".join(map(encoded.__getitem__, numbers))


def spread(address: int, size_bytes: int, descriptor: int) -> None:
    """Fills memory from a page's start with the file of a pattern, again and again; raises OSError.

    Mappings are private: what a kernel writes there stays in its buffer. The last, partial page is copied.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    whole = size_bytes // _PAGE_BYTES * _PAGE_BYTES
    for start in range(0, whole, SIZE_BYTES):
        length = min(SIZE_BYTES, whole - start)
        if libc.mmap(address + start, length, _READ_WRITE, _PRIVATE_FIXED, descriptor, 0) != address + start:
            raise OSError(ctypes.get_errno(), "failed to map a pattern over a buffer")
    rest = os.pread(descriptor, size_bytes - whole, whole % SIZE_BYTES)
    ctypes.memmove(address + whole, rest, len(rest))


def _encoded(dtype: str) -> list[bytes]:
    """256 numbers: the quantiles of the normal distribution."""
    if dtype.startswith("float8"):
        return [bytes([0x20 + number % 0x20 | number & 0x80]) for number in range(256)]
    normal = statistics.NormalDist()
    quantiles = [normal.inv_cdf((i + 0.5) / 256) for i in range(256)]
    if dtype == "bfloat16":
        return [struct.pack("<f", value)[2:] for value in quantiles]
    return [struct.pack(_FORMATS[dtype], value) for value in quantiles]
