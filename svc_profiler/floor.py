"""The least time that a case allows: its inputs are read once and its outputs written once, at HBM's published peak."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kernelvault.devices import Gpu
from kernelvault.replay import bundle
from kernelvault.v1 import kernel_pb2

# Counts of sampled blocks are not exact: a plan counts as reading less than everything below this share only.
_CLEARLY_LESS = 0.9


@dataclass(frozen=True)
class Floor:
    """Bytes that must move at least, and the time for them."""

    size_bytes: int
    time_ns: float
    # Of inputs and outputs, the share that the floor counts; below 1 where not all of them are touched.
    share: float = 1.0


def of(case: kernel_pb2.Case, gpu: Gpu, touched_bytes: int) -> Floor:
    """The floor of a case, given the distinct bytes of its inputs and outputs that the plan touched.

    A gather reads a few rows of a large table: what is not touched does not bound it. Operations are no part of the
    floor, because a reference does not say how few would do.
    """
    whole = bytes_of(case.parameters) + bytes_of(case.outputs)
    size = touched_bytes if 0 < touched_bytes < _CLEARLY_LESS * whole else whole
    return Floor(size, size / gpu.hbm_bytes_per_s * 1e9, size / whole if whole else 1.0)


def bytes_of(parameters: Iterable[kernel_pb2.Parameter]) -> int:
    """What the tensors among inputs or outputs hold."""
    views = (parameter.tensor for parameter in parameters if parameter.HasField("tensor"))
    return sum(_distinct_elements(view) * bundle.element_bytes(view.dtype) for view in views)


def _distinct_elements(view: kernel_pb2.TensorView) -> int:
    """Elements in memory: an expanded axis holds one."""
    count = 1
    for dim, stride in zip(view.dims, view.strides, strict=True):
        count *= 1 if stride == 0 and dim > 0 else dim
    return count
