"""What interpreting costs, and what the kernel computes."""

from __future__ import annotations

import collections

import triton.language as tl

from kernelvault.replay.triton.interpreter.formats import Array
from kernelvault.replay.triton.interpreter.tensors import Handle

# What an operation costs on a slow core, and each of its elements and of its multiplications.
OPERATION_NS, ELEMENT_NS, MATRIX_FLOP_NS = 12_000, 3, 0.15


class Work:
    """Counts operations."""

    def __init__(self) -> None:
        # An estimate, the same on every machine.
        self.cost_ns = 0.0
        # Floating-point operations.
        self.vector_flops = 0
        # By type of the factors, as `Counters.matrix_flops_by_type` has them.
        self.matrix_flops: collections.Counter[str] = collections.Counter()

    def worked(self, result: Array, *, floating: bool = False) -> None:
        """Notes an elementwise operation."""
        self.cost_ns += OPERATION_NS + ELEMENT_NS * result.size
        if floating:
            self.vector_flops += result.size

    def made(self, result: Array, type_: tl.dtype, *, floating: bool = False) -> Handle:
        """The result of an elementwise operation, noted."""
        self.worked(result, floating=floating)
        return Handle(result, type_)

    def matrix_work(self, flops: int, factors: tl.dtype) -> None:
        """Notes a matrix product of numbers of a type."""
        self.matrix_flops[_matrix_type(factors)] += flops
        self.cost_ns += MATRIX_FLOP_NS * flops


def _matrix_type(factors: tl.dtype) -> str:
    bits = factors.primitive_bitwidth
    if factors.is_int():
        return "i8"
    return "f8" if bits <= 8 else f"f{bits}"
