"""Triton's own rules of types, with short cuts where both operands plainly agree.

Whatever is not cut short goes through `TritonSemantic`, which the compiler uses too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import triton.language as tl

from kernelvault.replay.triton.interpreter.builder import Builder
from kernelvault.replay.triton.interpreter.formats import Array, Block, block, held
from kernelvault.replay.triton.interpreter.shortcuts import FLOATS, INTEGERS, Shortcuts, as_element
from kernelvault.replay.triton.interpreter.tensors import Handle, Tensor, View

_Operation = Callable[[Any, Any], Array]

# Types of which equal operands need no conversion, whatever the operator.
_PLAIN = frozenset((*FLOATS, *INTEGERS))
_MOST_CONSTANTS = 4096


class Semantic(Shortcuts):
    """What tensors and Triton's functions ask; operations end at `builder`."""

    tensor = Tensor
    builder: Builder

    def __init__(self, builder: Builder) -> None:
        super().__init__(builder)
        self._constants: dict[tuple[type, Any, tl.dtype], Tensor] = {}

    def scalar_constant(self, value: Any, dtype: tl.dtype) -> Tensor:
        """Raises ValueError without a dtype."""
        key = (type(value), value, dtype)
        known = self._constants.get(key)
        if known is None:
            known = super().scalar_constant(value, dtype)
            if len(self._constants) < _MOST_CONSTANTS:
                self._constants[key] = known
        return known

    def to_tensor(self, x: Any, check_type: bool = True) -> Any:
        """A value as a tensor; what Triton's library made one of becomes one of ours."""
        if x.__class__ is tl.tensor:
            return Tensor(x.handle, x.type)
        return super().to_tensor(x, check_type)

    def add(self, input: Any, other: Any, sanitize_overflow: bool) -> Tensor:
        """The sum; an address and a number of elements, in either order, give an address."""
        quick = self._quick(input, other, np.add)
        if quick is None:
            quick = self._quick_address(input, other)
        return super().add(input, other, sanitize_overflow) if quick is None else quick

    def sub(self, input: Any, other: Any, sanitize_overflow: bool) -> Tensor:
        """The difference."""
        quick = self._quick(input, other, np.subtract)
        return super().sub(input, other, sanitize_overflow) if quick is None else quick

    def mul(self, input: Any, other: Any, sanitize_overflow: bool) -> Tensor:
        """The product."""
        quick = self._quick(input, other, np.multiply)
        return super().mul(input, other, sanitize_overflow) if quick is None else quick

    def truediv(self, input: Any, other: Any) -> Tensor:
        """The quotient, which is a float."""
        quick = self._quick(input, other, np.true_divide, floats_only=True)
        return super().truediv(input, other) if quick is None else quick

    def less_than(self, input: Any, other: Any) -> Tensor:
        """Whether input < other."""
        quick = self._quick(input, other, np.less, compares=True)
        return super().less_than(input, other) if quick is None else quick

    def less_equal(self, input: Any, other: Any) -> Tensor:
        """Whether input <= other."""
        quick = self._quick(input, other, np.less_equal, compares=True)
        return super().less_equal(input, other) if quick is None else quick

    def greater_than(self, input: Any, other: Any) -> Tensor:
        """Whether input > other."""
        quick = self._quick(input, other, np.greater, compares=True)
        return super().greater_than(input, other) if quick is None else quick

    def greater_equal(self, input: Any, other: Any) -> Tensor:
        """Whether input >= other."""
        quick = self._quick(input, other, np.greater_equal, compares=True)
        return super().greater_equal(input, other) if quick is None else quick

    def broadcast_impl_value(self, lhs: Tensor, rhs: Tensor) -> tuple[Tensor, Tensor]:
        """Both with the shape that they have together."""
        left, right = lhs.type, rhs.type
        if left is right or not (left.is_block() or right.is_block()):
            return lhs, rhs
        try:
            shape = np.broadcast_shapes(_shape(left), _shape(right))
        except ValueError as error:
            raise ValueError(f"Cannot make_shape_compatible: incompatible dimensions: {error}") from None
        return _spread(lhs, shape), _spread(rhs, shape)

    def expand_dims(self, input: Tensor, axis: int) -> Tensor:
        """An axis of size 1 more."""
        if not input.type.is_block():
            return super().expand_dims(input, axis)
        data = np.expand_dims(input.handle.data, axis)
        return Tensor(Handle(data, input.type.scalar), block(input.type.scalar, data.shape))

    def make_tensor_descriptor(self, *arguments: Any, **options: Any) -> View:
        """A view whose accesses are cut off at its shape."""
        made = super().make_tensor_descriptor(*arguments, **options)
        made.__class__ = View
        return made

    def _quick(
        self, left: Any, right: Any, operation: _Operation, *, compares: bool = False, floats_only: bool = False
    ) -> Tensor | None:
        """The result where the types agree, else None."""
        if left.__class__ is Tensor:
            type_ = left.type
            if right.__class__ is Tensor:
                scalar = type_.scalar
                if scalar is not right.type.scalar or scalar.name not in _PLAIN:
                    return None
                if type_.__class__ is not Block:
                    type_ = right.type
                x, y = left.handle.data, right.handle.data
            else:
                scalar = type_.scalar
                y = as_element(right, scalar)
                if y is None:
                    return None
                x = left.handle.data
        else:
            if right.__class__ is not Tensor:
                return None
            type_ = right.type
            scalar = type_.scalar
            x = as_element(left, scalar)
            if x is None:
                return None
            y = right.handle.data
        if floats_only and scalar.name not in FLOATS:
            return None
        result = operation(x, y)
        self.builder.worked(result, floating=scalar.name in FLOATS)
        if compares:
            type_ = block(tl.int1, result.shape) if type_.__class__ is Block else tl.int1
        elif type_.__class__ is Block and type_.dims != result.shape:
            type_ = block(scalar, result.shape)
        return Tensor(Handle(result, type_.scalar), type_)

    def _quick_address(self, left: Any, right: Any) -> Tensor | None:
        """An address and a number of elements that is signed, or of Python."""
        if left.__class__ is not Tensor or not left.type.scalar.is_ptr():
            return None
        pointer = left.type.scalar
        width = element_bytes(pointer)
        if right.__class__ is Tensor:
            if right.type.scalar.name not in INTEGERS:
                return None
            result = left.handle.data + right.handle.data.astype(np.int64) * width
            blocks = left.type.__class__ is Block or right.type.__class__ is Block
        elif right.__class__ is int and -(1 << 31) <= right < 1 << 31:
            result = left.handle.data + right * width
            blocks = left.type.__class__ is Block
        else:
            return None
        self.builder.worked(result)
        return Tensor(Handle(result, pointer), block(pointer, result.shape) if blocks else pointer)


def element_bytes(pointer: tl.dtype) -> int:
    """How far apart the elements are that a pointer points at."""
    return max(1, int(pointer.element_ty.primitive_bitwidth) // 8)


def _shape(type_: tl.dtype) -> tuple[int, ...]:
    return type_.dims if type_.__class__ is Block else (1,)


def _spread(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    if tensor.type.__class__ is Block and tensor.type.dims == shape:
        return tensor
    element = tensor.type.scalar
    return Tensor(Handle(np.broadcast_to(tensor.handle.data, shape), element), block(element, shape))


def constant(value: Any, type_: tl.dtype) -> Tensor:
    """A scalar of a type, for example an argument."""
    return Tensor(Handle(np.array([value]).astype(held(type_)), type_), cast("tl.dtype", type_))
