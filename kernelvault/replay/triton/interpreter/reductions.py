"""`tl.reduce` and `tl.associative_scan`, whole arrays at a time.

The combine function is called on blocks: log2(n) times, on neighbours, as a tree over the lanes. It keeps the order of
the elements. Sums and extremes of types that numpy computes exactly as a tree would are left to numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import triton.language as tl

from kernelvault.replay.triton.interpreter.formats import Array
from kernelvault.replay.triton.interpreter.tensors import Tensor, of_array

Combine = Callable[..., Any]
Tensors = tuple[Tensor, ...]

# Of Triton's own combine functions; sums only where a rounding after each step does not show.
_WHOLE: dict[str, Callable[..., Array]] = {
    "_sum_combine": np.add.reduce,
    "_elementwise_max": np.fmax.reduce,
    "_elementwise_min": np.fmin.reduce,
}
_SCANS: dict[str, Callable[..., Array]] = {"_sum_combine": np.add.accumulate, "_prod_combine": np.multiply.accumulate}
_EXTREMES = {"_argmax_combine_tie_break_left": np.max, "_argmin_combine_tie_break_left": np.min}
_WIDE = frozenset({"fp32", "fp64", "int32", "uint32", "int64", "uint64"})


def reduce(operands: Tensor | Tensors, axis: int | None, combine: Combine, keep_dims: bool = False) -> Any:
    """The reduction of one tensor, or of several together, along an axis; None is all."""
    together = (operands,) if isinstance(operands, Tensor) else tuple(operands)
    arrays = [operand.handle.data for operand in together]
    types = [operand.type.scalar for operand in together]
    rank = arrays[0].ndim
    if axis is None:
        arrays, along = [array.reshape(-1) for array in arrays], 0
    else:
        along = int(axis) % rank
    reduced = _whole(arrays, types, along, combine) or _tree(arrays, types, along, combine)
    if keep_dims:
        shape = (1,) * rank if axis is None else None
        reduced = [np.expand_dims(array, along) if shape is None else array.reshape(shape) for array in reduced]
    results = tuple(_made(array, type_) for array, type_ in zip(reduced, types, strict=True))
    return results[0] if isinstance(operands, Tensor) else results


def scan(operands: Tensor | Tensors, axis: int, combine: Combine, reverse: bool = False) -> Any:
    """The running reductions of one tensor, or of several together, along an axis."""
    together = (operands,) if isinstance(operands, Tensor) else tuple(operands)
    types = [operand.type.scalar for operand in together]
    along = int(axis) % together[0].handle.data.ndim
    arrays = [operand.handle.data for operand in together]
    if reverse:
        arrays = [np.flip(array, along) for array in arrays]
    whole = _SCANS.get(_name(combine))
    if whole is not None and len(arrays) == 1 and types[0].name in _WIDE:
        arrays = [whole(arrays[0], axis=along, dtype=arrays[0].dtype)]
    else:
        arrays = _doubling(arrays, types, along, combine)
    if reverse:
        arrays = [np.flip(array, along) for array in arrays]
    results = tuple(of_array(array, type_) for array, type_ in zip(arrays, types, strict=True))
    return results[0] if isinstance(operands, Tensor) else results


def _name(combine: Combine) -> str:
    """The name of one of Triton's own combine functions, or nothing."""
    library = getattr(combine, "module", "") == "triton.language.standard"
    return str(getattr(combine, "__name__", "")) if library else ""


def _whole(arrays: list[Array], types: Sequence[tl.dtype], axis: int, combine: Combine) -> list[Array] | None:
    name = _name(combine)
    if name in _WHOLE and len(arrays) == 1 and types[0].name in _WIDE:
        if name == "_sum_combine":
            return [_WHOLE[name](arrays[0], axis=axis, dtype=arrays[0].dtype)]
        return [_WHOLE[name](arrays[0], axis=axis)]
    if name in _EXTREMES and len(arrays) == 2 and arrays[1].dtype.kind in "iu":
        values, places = arrays
        if values.dtype.kind == "f" and np.isnan(values).any():
            return None
        best = _EXTREMES[name](values, axis=axis, keepdims=True)
        last = np.iinfo(places.dtype).max
        return [np.squeeze(best, axis), np.where(values == best, places, last).min(axis=axis)]
    return None


def _tree(arrays: list[Array], types: Sequence[tl.dtype], axis: int, combine: Combine) -> list[Array]:
    while (size := arrays[0].shape[axis]) > 1:
        even = size // 2 * 2
        left = [_part(array, axis, slice(0, even, 2)) for array in arrays]
        right = [_part(array, axis, slice(1, even, 2)) for array in arrays]
        combined = _combine(combine, left, right, types)
        if size > even:
            rest = [_part(array, axis, slice(even, size)) for array in arrays]
            combined = [np.concatenate(pair, axis) for pair in zip(combined, rest, strict=True)]
        arrays = combined
    return [np.squeeze(array, axis) for array in arrays]


def _doubling(arrays: list[Array], types: Sequence[tl.dtype], axis: int, combine: Combine) -> list[Array]:
    size, distance = arrays[0].shape[axis], 1
    while distance < size:
        left = [_part(array, axis, slice(0, size - distance)) for array in arrays]
        right = [_part(array, axis, slice(distance, size)) for array in arrays]
        combined = _combine(combine, left, right, types)
        kept = [_part(array, axis, slice(0, distance)) for array in arrays]
        arrays = [np.concatenate(pair, axis) for pair in zip(kept, combined, strict=True)]
        distance *= 2
    return arrays


def _combine(combine: Combine, left: list[Array], right: list[Array], types: Sequence[tl.dtype]) -> list[Array]:
    """The combine function on blocks; lane by lane where it decides with `if`."""
    pairs = [*zip(left, types, strict=True), *zip(right, types, strict=True)]
    operands = [of_array(np.ascontiguousarray(array), type_) for array, type_ in pairs]
    if getattr(combine, "branches", False):
        return _lane_by_lane(combine, left, right, types)
    return [
        np.broadcast_to(data, like.shape).astype(like.dtype, copy=False)
        for data, like in zip(_results(combine(*operands)), left, strict=True)
    ]


def _lane_by_lane(combine: Combine, left: list[Array], right: list[Array], types: Sequence[tl.dtype]) -> list[Array]:
    results = [np.empty_like(array) for array in left]
    for place in np.ndindex(left[0].shape):
        operands = [
            of_array(np.asarray(a[place]), t) for side in (left, right) for a, t in zip(side, types, strict=True)
        ]
        for result, data in zip(results, _results(combine(*operands)), strict=True):
            result[place] = np.asarray(data).reshape(-1)[0]
    return results


def elementwise(function: Combine, operands: Sequence[Tensor]) -> Any:
    """A function of scalars on each lane of blocks of one shape; a tensor, or as many as it returns."""
    shape = operands[0].handle.data.shape
    flat = [(operand.handle.data.reshape(-1), operand.type.scalar) for operand in operands]
    rows = []
    for lane in range(len(flat[0][0])):
        returned = function(*[of_array(np.asarray(data[lane]), type_) for data, type_ in flat])
        several = isinstance(returned, tuple | list | tl.tuple)
        rows.append(list(returned) if several else [returned])
    columns = [np.array([one.handle.data.reshape(-1)[0] for one in column]) for column in zip(*rows, strict=True)]
    made = tuple(of_array(column.reshape(shape), one.type.scalar) for column, one in zip(columns, rows[0], strict=True))
    return made if several else made[0]


def _results(returned: Any) -> list[Any]:
    together = returned if isinstance(returned, tuple | list | tl.tuple) else (returned,)
    return [one.handle.data if isinstance(one, Tensor) else np.asarray(one) for one in together]


def _part(array: Array, axis: int, which: slice) -> Array:
    return array[(slice(None),) * axis + (which,)]


def _made(array: Array, type_: tl.dtype) -> Tensor:
    return of_array(np.asarray(array), type_)
