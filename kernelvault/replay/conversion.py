"""Strided copies between views of memory, elements converted as torch does."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelvault.replay import bundle, narrow_floats
from kernelvault.v1 import kernel_pb2

Array = np.ndarray[Any, np.dtype[Any]]


def copy(source: memoryview, source_view: kernel_pb2.TensorView, to: memoryview, view: kernel_pb2.TensorView) -> None:
    """Copies a tensor in `source` to one of the same shape in `to`; the views must lie within."""
    if 0 in view.dims:
        return
    target = _elements(to, view)
    if source_view.dtype == view.dtype:
        target[...] = _elements(source, source_view)
    else:
        values = bundle.to_numpy(bundle.Item("", source_view, source))
        target[...] = _encoded(values, view.dtype)


def _elements(memory: memoryview, view: kernel_pb2.TensorView) -> Array:
    """The raw elements of a view, writable."""
    size = bundle.element_bytes(view.dtype)
    flat = np.frombuffer(memory[: memory.nbytes // size * size], np.dtype(f"u{size}"))
    strides = tuple(stride * size for stride in view.strides)
    return np.lib.stride_tricks.as_strided(flat[view.offset_elements :], tuple(view.dims), strides)


def _encoded(values: Array, dtype: str) -> Array:
    with np.errstate(all="ignore"):
        if narrow_floats.is_narrow(dtype):
            return narrow_floats.encode(values, dtype)
        to = np.dtype(dtype)
        converted = values != 0 if to.kind == "b" else values.astype(to)
    return np.ascontiguousarray(converted).view(np.dtype(f"u{to.itemsize}")).reshape(values.shape)
