"""Operations of the builder that arrange elements: shapes, gathers, joins, histograms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import triton.language as tl

from kernelvault.replay.triton.interpreter import formats
from kernelvault.replay.triton.interpreter.formats import Array
from kernelvault.replay.triton.interpreter.tensors import Handle
from kernelvault.replay.triton.interpreter.work import Work


class Shapes(Work):
    """Arranges elements; computes nothing."""

    def create_reshape(self, operand: Handle, shape: Sequence[int], allow_reorder: bool) -> Handle:
        """In row-major order."""
        return Handle(operand.data.reshape(tuple(shape)), operand.dtype.scalar)

    def create_trans(self, operand: Handle, order: Sequence[int]) -> Handle:
        """Axes in another order."""
        return Handle(np.transpose(operand.data, order), operand.dtype.scalar)

    def create_make_range(self, type_: tl.dtype, start: int, stop: int) -> Handle:
        """Whole numbers of 32 bits."""
        return Handle(np.arange(start, stop, dtype=np.int32), tl.int32)

    def create_expand_dims(self, operand: Handle, axis: int) -> Handle:
        """An axis more."""
        return Handle(np.expand_dims(operand.data, axis), operand.dtype.scalar)

    def create_broadcast(self, operand: Handle, shape: Sequence[int]) -> Handle:
        """Axes of size 1 made larger."""
        return Handle(np.broadcast_to(operand.data, tuple(shape)), operand.dtype.scalar)

    def create_splat(self, type_: tl.block_type, operand: Handle) -> Handle:
        """A scalar in every place."""
        return Handle(np.broadcast_to(operand.data.reshape(-1)[:1], tuple(type_.shape)), operand.dtype.scalar)

    def create_unsplat(self, operand: Handle) -> Handle:
        """The scalar of a block that has one element."""
        return Handle(operand.data.reshape(-1)[:1], operand.dtype.scalar)

    def create_cat(self, left: Handle, right: Handle) -> Handle:
        """One after the other."""
        return self.made(np.concatenate([left.data, right.data]), left.dtype.scalar)

    def create_join(self, left: Handle, right: Handle) -> Handle:
        """Side by side along a new last axis; of scalars, a block of two."""
        return self.made(np.stack([left.data, right.data], axis=-1), left.dtype.scalar)

    def create_split(self, operand: Handle) -> tuple[Handle, Handle]:
        """The two sides of the last axis."""
        type_ = operand.dtype.scalar
        sides = [np.atleast_1d(operand.data[..., side]) for side in (0, 1)]
        return Handle(sides[0], type_), Handle(sides[1], type_)

    def create_gather(self, source: Handle, indices: Handle, axis: int) -> Handle:
        """Elements by their place along an axis; IndexError beyond it."""
        return self.made(np.take_along_axis(source.data, indices.data.astype(np.int64), axis), source.dtype.scalar)

    def create_histogram(self, operand: Handle, bins: int, mask: Handle | None) -> Handle:
        """How often each number below `bins` occurs; what is beyond counts nowhere."""
        values = operand.data if mask is None else operand.data[mask.data]
        values = values.astype(np.int64).reshape(-1)
        counts = np.bincount(values[(values >= 0) & (values < bins)], minlength=bins)
        return self.made(counts.astype(np.int32), tl.int32)

    def create_bitcast(self, operand: Handle, type_: tl.dtype) -> Handle:
        """The same bits as another type."""
        source, target = operand.dtype.scalar, type_.scalar
        raw: Array = operand.data
        if not source.is_ptr() and not target.is_ptr():
            raw = formats.encode(raw, source)
            raw = formats.decode(np.ascontiguousarray(raw).view(formats.stored(target)), target)
        return Handle(raw, target)

    def create_int_to_ptr(self, operand: Handle, type_: tl.dtype) -> Handle:
        """An address."""
        return Handle(operand.data.astype(np.int64), type_.scalar)

    def create_ptr_to_int(self, operand: Handle, type_: tl.dtype) -> Handle:
        """The number of an address."""
        return Handle(operand.data.astype(formats.held(type_)), type_.scalar)
