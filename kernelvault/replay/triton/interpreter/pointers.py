"""Block pointers and tensor descriptors: views of a tensor that move, and the addresses and masks that they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelvault.replay.triton.interpreter.formats import Array
from kernelvault.replay.triton.interpreter.tensors import Handle


@dataclass(frozen=True)
class BlockPointer:
    """What `tl.make_block_ptr` makes: sizes, strides and offsets are scalars, of which some move."""

    base: Handle
    shape: Sequence[Handle]
    strides: Sequence[Handle]
    offsets: Sequence[Handle]
    block_shape: Sequence[int]

    def advanced(self, offsets: Sequence[Handle]) -> BlockPointer:
        """The same, further on."""
        moved = [
            Handle(old.data.astype(np.int64) + new.data, old.dtype)
            for old, new in zip(self.offsets, offsets, strict=True)
        ]
        return BlockPointer(self.base, self.shape, self.strides, moved, self.block_shape)

    def addresses(self, checked: Sequence[int], width: int) -> tuple[Array, Array | None]:
        """The address of each element, and which lie within the shape along the `checked` axes; None is all."""
        return _addresses(self, [offset.data for offset in self.offsets], checked, width)


@dataclass(frozen=True)
class Descriptor:
    """What `tl.make_tensor_descriptor` makes: every access is cut off at the shape."""

    base: Handle
    shape: Sequence[Handle]
    strides: Sequence[Handle]
    block_shape: Sequence[int]
    padding: object

    def addresses(self, offsets: Sequence[Handle], width: int) -> tuple[Array, Array | None]:
        """The address of each element of the block at `offsets`, and which lie within the shape."""
        axes = range(len(self.block_shape))
        return _addresses(self, [offset.data for offset in offsets], axes, width)


def _addresses(
    view: BlockPointer | Descriptor, offsets: Sequence[Array], checked: Sequence[int], width: int
) -> tuple[Array, Array | None]:
    rank = len(view.block_shape)
    address: Array = view.base.data.reshape((1,) * rank)
    mask: Array | None = None
    for axis, size in enumerate(view.block_shape):
        along = [1] * rank
        along[axis] = size
        place = (offsets[axis].astype(np.int64) + np.arange(size)).reshape(along)
        address = address + width * place * view.strides[axis].data.astype(np.int64).reshape((1,) * rank)
        if axis in checked:
            inside = (place >= 0) & (place < view.shape[axis].data.astype(np.int64).reshape((1,) * rank))
            mask = inside if mask is None else mask & inside
    return address, None if mask is None else np.broadcast_to(mask, address.shape)
