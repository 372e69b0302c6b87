"""Operations of the builder that touch memory, and the views of tensors that some of them go through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import triton.language as tl
from triton._C.libtriton import ir

from kernelvault.replay.triton.interpreter.formats import Array, held
from kernelvault.replay.triton.interpreter.memory import Memory, Operation
from kernelvault.replay.triton.interpreter.pointers import BlockPointer, Descriptor
from kernelvault.replay.triton.interpreter.tensors import Handle
from kernelvault.replay.triton.interpreter.work import OPERATION_NS, Work

_ATOMICS: dict[Any, Operation] = {
    ir.ATOMIC_OP.ADD: np.add,
    ir.ATOMIC_OP.FADD: np.add,
    ir.ATOMIC_OP.MIN: np.minimum,
    ir.ATOMIC_OP.UMIN: np.minimum,
    ir.ATOMIC_OP.MAX: np.maximum,
    ir.ATOMIC_OP.UMAX: np.maximum,
    ir.ATOMIC_OP.AND: np.bitwise_and,
    ir.ATOMIC_OP.OR: np.bitwise_or,
    ir.ATOMIC_OP.XOR: np.bitwise_xor,
    ir.ATOMIC_OP.XCHG: lambda old, new: new,
}
_REDUCTIONS: dict[Any, Operation] = {
    ir.DESCRIPTOR_REDUCE_KIND.ADD: np.add,
    ir.DESCRIPTOR_REDUCE_KIND.MIN: np.minimum,
    ir.DESCRIPTOR_REDUCE_KIND.MAX: np.maximum,
    ir.DESCRIPTOR_REDUCE_KIND.AND: np.bitwise_and,
    ir.DESCRIPTOR_REDUCE_KIND.OR: np.bitwise_or,
    ir.DESCRIPTOR_REDUCE_KIND.XOR: np.bitwise_xor,
}
# What an access to memory costs beyond another operation.
_ACCESS_NS, _LANE_NS = 3 * OPERATION_NS, 15


class Accesses(Work):
    """Loads, stores and atomics on `memory`."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = Memory([])

    def create_load(self, pointers: Handle, cache: Any, eviction: Any, volatile: bool) -> Handle:
        """Of all lanes."""
        return self.load(pointers.data, None, None, pointers.dtype.element_ty, volatile=volatile)

    def create_masked_load(
        self, pointers: Handle, mask: Handle, other: Handle | None, cache: Any, eviction: Any, volatile: bool
    ) -> Handle:
        """Of the lanes in the mask; the others get `other`, or zero."""
        fill = None if other is None else other.data
        return self.load(pointers.data, mask.data, fill, pointers.dtype.element_ty, volatile=volatile)

    def create_store(self, pointers: Handle, value: Handle, cache: Any, eviction: Any) -> None:
        """Of all lanes."""
        self.store(pointers.data, value.data, None, pointers.dtype.element_ty)

    def create_masked_store(self, pointers: Handle, value: Handle, mask: Handle, cache: Any, eviction: Any) -> None:
        """Of the lanes in the mask."""
        self.store(pointers.data, value.data, mask.data, pointers.dtype.element_ty)

    def create_atomic_rmw(
        self, operation: Any, pointers: Handle, value: Handle, mask: Handle, sem: Any, scope: Any
    ) -> Handle:
        """The old values; equal addresses take their turns in the order of the lanes."""
        element = pointers.dtype.element_ty
        self._accessed(pointers.data)
        ordered = sem != ir.MEM_SEMANTIC.RELAXED
        act = _ATOMICS[operation]
        old = self.memory.atomic(pointers.data, act, value.data, mask.data, element=element, ordered=ordered)
        return Handle(old, element)

    def create_atomic_cas(self, pointers: Handle, expected: Handle, value: Handle, sem: Any, scope: Any) -> Handle:
        """The old values; where they are what is expected, the new ones are written."""
        element = pointers.dtype.element_ty
        self._accessed(pointers.data)
        ordered = sem != ir.MEM_SEMANTIC.RELAXED
        wanted = np.broadcast_to(expected.data, pointers.data.shape)
        old = self.memory.compare_exchange(pointers.data, wanted, value.data, element, ordered=ordered)
        return Handle(old, element)

    def create_make_block_ptr(
        self, base: Handle, shape: Any, strides: Any, offsets: Any, block_shape: Sequence[int], order: Any
    ) -> BlockPointer:
        """See BlockPointer."""
        return BlockPointer(base, shape, strides, offsets, block_shape)

    def create_advance(self, pointer: BlockPointer, offsets: Sequence[Handle]) -> BlockPointer:
        """The pointer further on."""
        return pointer.advanced(offsets)

    def create_tensor_pointer_load(
        self, pointer: BlockPointer, checked: Any, padding: Any, cache: Any, eviction: Any, volatile: bool
    ) -> Handle:
        """Of a block; what is beyond a checked side is padding."""
        element = pointer.base.dtype.element_ty
        address, mask = pointer.addresses(_axes(checked), element.primitive_bitwidth // 8)
        return self.load(address, mask, _padding(padding, element, address), element, volatile=volatile)

    def create_tensor_pointer_store(
        self, pointer: BlockPointer, value: Handle, checked: Any, cache: Any, eviction: Any
    ) -> None:
        """Of a block; what is beyond a checked side is left out."""
        element = pointer.base.dtype.element_ty
        address, mask = pointer.addresses(_axes(checked), element.primitive_bitwidth // 8)
        self.store(address, value.data, mask, element)

    def create_make_tensor_descriptor(
        self, base: Handle, shape: Any, strides: Any, block_shape: Sequence[int], is_signed: bool, padding: Any
    ) -> Descriptor:
        """See Descriptor."""
        return Descriptor(base, shape, strides, list(block_shape), padding)

    def create_descriptor_load(self, view: Descriptor, offsets: Sequence[Handle], cache: Any, eviction: Any) -> Handle:
        """Of a block; what is beyond the shape is padding."""
        element = view.base.dtype.element_ty
        address, mask = view.addresses(offsets, element.primitive_bitwidth // 8)
        return self.load(address, mask, _padding(view.padding, element, address), element, volatile=False)

    def create_descriptor_store(self, view: Descriptor, value: Handle, offsets: Sequence[Handle]) -> None:
        """Of a block; what is beyond the shape is left out."""
        element = view.base.dtype.element_ty
        address, mask = view.addresses(offsets, element.primitive_bitwidth // 8)
        self.store(address, value.data, mask, element)

    def create_descriptor_reduce(self, kind: Any, view: Descriptor, value: Handle, offsets: Sequence[Handle]) -> None:
        """An atomic on a block."""
        element = view.base.dtype.element_ty
        address, mask = view.addresses(offsets, element.primitive_bitwidth // 8)
        self._accessed(address)
        self.memory.atomic(address, _REDUCTIONS[kind], value.data, mask, element=element, ordered=False)

    def create_descriptor_gather(self, view: Descriptor, rows: Handle, column: Handle, type_: Any) -> Handle:
        """Of rows by their numbers."""
        loaded = [
            self.create_descriptor_load(view, [Handle(row, tl.int32), column], None, None).data
            for row in rows.data.reshape(-1, 1)
        ]
        return Handle(np.concatenate(loaded), view.base.dtype.element_ty)

    def create_descriptor_scatter(self, view: Descriptor, value: Handle, rows: Handle, column: Handle) -> None:
        """Of rows by their numbers."""
        for row, part in zip(rows.data.reshape(-1, 1), value.data, strict=True):
            self.create_descriptor_store(view, Handle(part[None], value.dtype), [Handle(row, tl.int32), column])

    def load(
        self, address: Array, mask: Array | None, fill: Array | None, element: tl.dtype, *, volatile: bool
    ) -> Handle:
        """Of the lanes in the mask; None is all."""
        self._accessed(address)
        return Handle(self.memory.load(address, mask, fill, element, volatile=volatile), element)

    def store(self, address: Array, values: Array, mask: Array | None, element: tl.dtype) -> None:
        """Of the lanes in the mask; None is all."""
        self._accessed(address)
        self.memory.store(address, values, mask, element)

    def _accessed(self, address: Array) -> None:
        self.cost_ns += _ACCESS_NS + _LANE_NS * address.size


def _axes(checked: Any) -> tuple[int, ...]:
    return tuple(int(axis) for axis in checked)


def _padding(padding: Any, element: tl.dtype, address: Array) -> Array | None:
    if padding == ir.PADDING_OPTION.PAD_NAN:
        return np.full(address.shape, np.nan, held(element))
    return None
