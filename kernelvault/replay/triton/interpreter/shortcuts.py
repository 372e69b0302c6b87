"""Short cuts through Triton's semantic for what kernels do most: loads, stores, conversions, choices, logic.

They do what the longer way does, where operands are plain; elsewhere they leave it to that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl
from triton.language.semantic import TritonSemantic

from kernelvault.replay.triton.interpreter.builder import Builder
from kernelvault.replay.triton.interpreter.formats import Array, Block, block
from kernelvault.replay.triton.interpreter.tensors import Handle, Tensor

_CONVERTIBLE = frozenset(
    {"fp16", "bf16", "fp32", "fp64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
)
_FACTORS = frozenset({"fp16", "bf16", "fp32"})
FLOATS: dict[str, Any] = {"fp32": np.float32, "fp64": np.float64}
INTEGERS: dict[str, Any] = {"int32": (np.int32, 31), "int64": (np.int64, 63)}
_BITS = frozenset({"int1", "int32", "int64"})


class Shortcuts(TritonSemantic[Tensor]):
    """See the module."""

    builder: Builder

    def cast(self, input: Tensor, dst_ty: tl.dtype, fp_downcast_rounding: str | None = None) -> Tensor:
        """The same numbers as another type."""
        source, target = input.type.scalar, dst_ty.scalar
        if source is target:
            return input
        plain = target.name in _CONVERTIBLE and (source.name in _CONVERTIBLE or source.name == "int1")
        if not plain or fp_downcast_rounding is not None or source == target:
            return super().cast(input, dst_ty, fp_downcast_rounding)
        made = self.builder.convert(input.handle, target)
        type_ = input.type
        return Tensor(made, block(target, type_.dims) if type_.__class__ is Block else target)

    def where(self, condition: Tensor, x: Any, y: Any) -> Tensor:
        """One of two values, lane by lane."""
        if condition.type.scalar.name != "int1":
            return super().where(condition, x, y)
        tensors = [value for value in (x, y) if value.__class__ is Tensor]
        scalar = tensors[0].type.scalar if tensors else tl.void
        if len(tensors) == 2 and tensors[1].type.scalar is scalar:
            values = [x.handle.data, y.handle.data]
        elif len(tensors) == 1:
            values = [v.handle.data if v.__class__ is Tensor else as_element(v, scalar) for v in (x, y)]
            if any(value is None for value in values):
                return super().where(condition, x, y)
        else:
            return super().where(condition, x, y)
        return self._of(np.where(condition.handle.data, *values), scalar, condition, *tensors)

    def dot(self, lhs: Tensor, rhs: Tensor, acc: Tensor | None, *options: Any) -> Tensor:
        """A product of matrices, and a sum; `options` end with the result's type."""
        plain = lhs.type.scalar is rhs.type.scalar and lhs.type.scalar.name in _FACTORS and options[-1] is tl.float32
        if not (plain and len(lhs.type.dims) == 2 and lhs.type.dims[1] == rhs.type.dims[0]):
            return super().dot(lhs, rhs, acc, *options)
        dims = (lhs.type.dims[0], rhs.type.dims[1])
        if acc is not None and acc.type is not block(tl.float32, dims):
            return super().dot(lhs, rhs, acc, *options)
        self.builder.matrix_work(2 * lhs.handle.data.size * dims[1], lhs.type.scalar)
        left, right = (side.handle.data.astype(np.float32, copy=False) for side in (lhs, rhs))
        result = np.matmul(left, right)
        if acc is not None:
            result += acc.handle.data
        return self._of(result, tl.float32, lhs)

    def and_(self, input: Any, other: Any) -> Tensor:
        """Bits that are set in both."""
        if _same_bits(input, other):
            result = np.bitwise_and(input.handle.data, other.handle.data)
            return self._of(result, input.type.scalar, input, other)
        return super().and_(input, other)

    def or_(self, input: Any, other: Any) -> Tensor:
        """Bits that are set in either."""
        if _same_bits(input, other):
            result = np.bitwise_or(input.handle.data, other.handle.data)
            return self._of(result, input.type.scalar, input, other)
        return super().or_(input, other)

    def _of(self, result: Array, scalar: tl.dtype, *operands: Tensor) -> Tensor:
        self.builder.worked(result)
        blocks = any(operand.type.__class__ is Block for operand in operands)
        return Tensor(Handle(result, scalar), block(scalar, result.shape) if blocks else scalar)

    def _load_legacy(
        self, ptr: Tensor, mask: Any, other: Any, boundary_check: Any, padding: Any, *hints: Any
    ) -> Tensor:
        """A load by addresses; `hints` end with whether it is volatile."""
        if boundary_check or padding or not _plain_access(ptr, mask, other) or (mask is None and other is not None):
            return super()._load_legacy(ptr, mask, other, boundary_check, padding, *hints)
        element = ptr.type.scalar.element_ty
        address = ptr.handle.data
        fill = None if other is None else self.cast(other, element).handle.data
        handle = self.builder.load(address, _mask(mask, address), fill, element, volatile=hints[-1])
        return Tensor(handle, block(element, address.shape) if ptr.type.__class__ is Block else element)

    def _store_legacy(self, ptr: Tensor, val: Tensor, mask: Any, boundary_check: Any, *hints: Any) -> Tensor:
        """A store by addresses."""
        if boundary_check or not _plain_access(ptr, mask, val):
            return super()._store_legacy(ptr, val, mask, boundary_check, *hints)
        element = ptr.type.scalar.element_ty
        address = ptr.handle.data
        self.builder.store(address, self.cast(val, element).handle.data, _mask(mask, address), element)
        return Tensor(Handle(address[:0], tl.void), tl.void)


def as_element(number: Any, scalar: tl.dtype) -> Any:
    """A number of Python as an element, where Triton lets it take the other operand's type; None elsewhere."""
    kind = number.__class__
    if scalar.name in FLOATS:
        return FLOATS[scalar.name](number) if kind is float or kind is int else None
    if kind is int and scalar.name in INTEGERS:
        type_, bits = INTEGERS[scalar.name]
        return type_(number) if -(1 << bits) <= number < 1 << bits else None
    return None


def _same_bits(left: Any, right: Any) -> bool:
    if left.__class__ is not Tensor or right.__class__ is not Tensor:
        return False
    return left.type.scalar is right.type.scalar and left.type.scalar.name in _BITS


def _plain_access(ptr: Any, mask: Any, value: Any) -> bool:
    """Whether mask and value have no more lanes than the addresses, and the elements are no truth values."""
    if ptr.__class__ is not Tensor or not ptr.type.scalar.is_ptr() or ptr.type.scalar.element_ty.name == "int1":
        return False
    if mask is not None and (mask.type.scalar.name != "int1" or not _fits(mask, ptr)):
        return False
    return value is None or _fits(value, ptr)


def _fits(operand: Tensor, ptr: Tensor) -> bool:
    if operand.type.__class__ is not Block:
        return True
    if ptr.type.__class__ is Block and operand.type.dims == ptr.type.dims:
        return True
    if ptr.type.__class__ is not Block or len(operand.type.dims) != len(ptr.type.dims):
        return False
    return all(size in (1, whole) for size, whole in zip(operand.type.dims, ptr.type.dims, strict=True))


def _mask(mask: Tensor | None, address: Array) -> Array | None:
    """The lanes that take part; None is all."""
    if mask is None:
        return None
    data = mask.handle.data
    if data.all():
        return None
    return data if data.shape == address.shape else np.broadcast_to(data, address.shape)
