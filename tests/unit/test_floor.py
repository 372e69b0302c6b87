"""The least time of a case, by hand."""

from __future__ import annotations

import pytest

from kernelvault import devices
from kernelvault.v1 import kernel_pb2
from svc_profiler import floor

MI300X = devices.of("MI300X")


def tensor(dtype: str, dims: list[int], strides: list[int]) -> kernel_pb2.Parameter:
    """A parameter that is a tensor."""
    return kernel_pb2.Parameter(tensor=kernel_pb2.TensorView(dtype=dtype, dims=dims, strides=strides))


CASE = kernel_pb2.Case(
    id="c",
    parameters=[
        tensor("float32", [1000, 1000], [1000, 1]),
        tensor("float32", [1000, 1000], [0, 1]),
        kernel_pb2.Parameter(float_value=2.0),
    ],
    outputs=[tensor("bfloat16", [1000, 1000], [1000, 1])],
)


def test_inputs_and_outputs_move_once() -> None:
    """4 MB, an expanded row of 4 kB and 2 MB out, at 5.3 TB/s."""
    found = floor.of(CASE, MI300X, touched_bytes=10**9)
    assert (found.size_bytes, found.share) == (6_004_000, 1.0)
    assert found.time_ns == pytest.approx(6_004_000 / 5.3e12 * 1e9)


def test_what_is_not_touched_does_not_count() -> None:
    """A gather that touches half of its table is bound by that half."""
    found = floor.of(CASE, MI300X, touched_bytes=3_002_000)
    assert (found.size_bytes, found.share) == (3_002_000, 0.5)


def test_counts_that_are_nearly_all_are_all() -> None:
    """Sampled counts are rough: 95% is everything."""
    assert floor.of(CASE, MI300X, touched_bytes=5_700_000).share == 1.0
