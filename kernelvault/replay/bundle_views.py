"""Views of tensors in storages: dtypes, sizes and the checks without which none is believed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kernelvault.v1 import kernel_pb2

MAX_DIMS = 64
MAX_ELEMENTS = 1 << 40

# dtype as torch spells it: bytes of an element.
DTYPES: dict[str, int] = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2fnuz": 1,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}


class Malformed(ValueError):
    """The bytes are no bundle; the message says where."""


def element_bytes(dtype: str) -> int:
    """Bytes of one element; raises Malformed for an unknown dtype."""
    size = DTYPES.get(dtype)
    if size is None:
        raise Malformed(f"unknown dtype {dtype[:40]!r}; known are {', '.join(DTYPES)}")
    return size


def element_count(dims: Sequence[int]) -> int:
    """How many elements a tensor of these sizes has."""
    return math.prod(dims)


def contiguous_view(dtype: str, dims: Sequence[int]) -> kernel_pb2.TensorView:
    """The view of a row-major tensor that fills its storage; raises Malformed for an unknown dtype."""
    element_bytes(dtype)
    strides = [1] * len(dims)
    for axis in range(len(dims) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * max(1, dims[axis + 1])
    return kernel_pb2.TensorView(dtype=dtype, dims=dims, strides=strides)


def span_bytes(view: kernel_pb2.TensorView) -> int:
    """The least size of a storage that holds the view."""
    if 0 in view.dims:
        return 0
    last = sum((dim - 1) * stride for dim, stride in zip(view.dims, view.strides, strict=True))
    return (view.offset_elements + last + 1) * element_bytes(view.dtype)


def check_view(view: kernel_pb2.TensorView) -> None:
    """Raises Malformed for a view that no storage could hold."""
    numbers = {"dims": list(view.dims), "strides": list(view.strides), "offset_elements": view.offset_elements}
    read_view({"dtype": view.dtype, **numbers, "storage_bytes": MAX_ELEMENTS * 8}, "the tensor")


def read_view(entry: Mapping[str, Any], where: str) -> kernel_pb2.TensorView:
    """The view that a header describes; raises Malformed where it contradicts itself or does not fit its storage."""
    dtype = entry.get("dtype")
    if not isinstance(dtype, str):
        raise Malformed(f"{where} has no dtype")
    dims, strides = (_naturals(entry, key, where) for key in ("dims", "strides"))
    if len(dims) != len(strides):
        raise Malformed(f"{where} has {len(dims)} dims and {len(strides)} strides")
    if element_count(dims) > MAX_ELEMENTS or (0 in dims and max(dims) > MAX_ELEMENTS):
        raise Malformed(f"{where} has more than {MAX_ELEMENTS} elements")
    offset = natural(entry, "offset_elements", where)
    element_bytes(dtype)
    view = kernel_pb2.TensorView(dtype=dtype, dims=dims, strides=strides, offset_elements=offset)
    if span_bytes(view) > natural(entry, "storage_bytes", where):
        raise Malformed(f"{where}: the view needs {span_bytes(view)} bytes, its storage has {entry['storage_bytes']}")
    return view


def _naturals(entry: Mapping[str, Any], key: str, where: str) -> list[int]:
    values = entry.get(key)
    if not isinstance(values, list) or len(values) > MAX_DIMS:
        raise Malformed(f"{where}.{key} is no list of at most {MAX_DIMS} numbers")
    return [_checked(value, f"{where}.{key}") for value in values]


def natural(entry: Mapping[str, Any], key: str, where: str) -> int:
    """A number of a header that is neither negative nor absurd; raises Malformed."""
    return _checked(entry.get(key), f"{where}.{key}")


def _checked(value: Any, where: str) -> int:
    if type(value) is not int or not 0 <= value <= MAX_ELEMENTS * 8:
        raise Malformed(f"{where} is no number between 0 and {MAX_ELEMENTS * 8}")
    return value
