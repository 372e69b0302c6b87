"""How values of Triton's types are held and stored: bfloat16 and float8 are held as float32, which has them exactly.

Triton's own interpreter holds them as the bits of unsigned integers and computes on these. Here a value of a narrow
type is a float32 that the type can represent: every operation computes in float32 and rounds once, as a GPU does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import triton.language as tl

from kernelvault.replay import narrow_floats

Array = np.ndarray[Any, np.dtype[Any]]

_HELD: dict[str, Any] = {
    "int1": np.bool_,
    "int8": np.int8,
    "uint8": np.uint8,
    "int16": np.int16,
    "uint16": np.uint16,
    "int32": np.int32,
    "uint32": np.uint32,
    "int64": np.int64,
    "uint64": np.uint64,
    "fp16": np.float16,
    "fp32": np.float32,
    "fp64": np.float64,
    "bf16": np.float32,
    "fp8e4nv": np.float32,
    "fp8e5": np.float32,
}
# Their names in bundles.
NARROW = {"bf16": "bfloat16", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2"}
_STORED: dict[str, Any] = {"int1": np.uint8, "bf16": np.uint16, "fp8e4nv": np.uint8, "fp8e5": np.uint8}
SCALARS: dict[str, tl.dtype] = {value.name: value for value in vars(tl.core).values() if type(value) is tl.dtype}
_HELD_TYPES = {name: np.dtype(held) for name, held in _HELD.items()}
_STORED_TYPES = {name: np.dtype(_STORED.get(name, held)) for name, held in _HELD.items()}
ADDRESS = np.dtype(np.int64)


class UnknownType(NotImplementedError):
    """A type that the interpreter has no values of; the message names it."""


def held(type_: tl.dtype) -> np.dtype[Any]:
    """The numpy type in which elements of a type are held; raises UnknownType."""
    return _look_up(_HELD_TYPES, type_)


def stored(type_: tl.dtype) -> np.dtype[Any]:
    """The numpy type of an element in memory; raises UnknownType."""
    return _look_up(_STORED_TYPES, type_)


def _look_up(table: dict[str, np.dtype[Any]], type_: tl.dtype) -> np.dtype[Any]:
    scalar = type_.scalar
    if scalar.is_ptr():
        return ADDRESS
    try:
        return table[scalar.name]
    except KeyError:
        raise UnknownType(f"values of type {scalar}") from None


def round_to(values: Array, type_: tl.dtype) -> Array:
    """Floats rounded to what a narrow type can represent, ties to even; others as they are."""
    name = type_.scalar.name
    if name == "bf16":
        return _round_bfloat16(values)
    if name in NARROW:
        return decode(narrow_floats.encode(values, NARROW[name], saturate=True), type_)
    return values


def decode(raw: Array, type_: tl.dtype) -> Array:
    """Elements as they lie in memory, made values."""
    name = type_.scalar.name
    if name == "bf16":
        return (raw.astype(np.uint32) << 16).view(np.float32)
    if name in NARROW:
        return narrow_floats.table(NARROW[name])[raw]
    if name == "int1":
        return raw != 0
    return raw


def encode(values: Array, type_: tl.dtype) -> Array:
    """Values as they lie in memory."""
    name = type_.scalar.name
    if name == "bf16":
        return (np.ascontiguousarray(values).view(np.uint32) >> 16).astype(np.uint16)
    if name in NARROW:
        return narrow_floats.encode(values, NARROW[name], saturate=True)
    if name == "int1":
        return values.astype(np.uint8)
    return values


def _round_bfloat16(values: Array) -> Array:
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + (0x7FFF + ((bits >> 16) & 1))) & np.uint32(0xFFFF0000)
    nan = np.isnan(values)
    if nan.any():
        rounded = np.where(nan, np.uint32(0x7FC00000), rounded)
    return rounded.view(np.float32)


class Extent(int):
    """A size: a number that Triton's functions can take for a constant."""

    @property
    def value(self) -> int:
        """As of a `tl.constexpr`."""
        return int(self)


class Shape(tl.tuple):
    """Sizes, as Triton has them; their type is made when it is asked for."""

    def __init__(self, sizes: Iterable[int]) -> None:
        self.values = list(sizes)

    @property
    def type(self) -> tl.tuple_type:
        """The type of a tuple."""
        return tl.core._type_for_tuple_values(self.values)


class Block(tl.block_type):
    """A block type of any sizes: parts of a block that is a power of two need not be one. Made by `block` only."""

    def __init__(self, element: tl.dtype, dims: tuple[int, ...]) -> None:
        self.element_ty = element
        self.dims = dims
        self.shape = Shape(dims)
        # What a tensor calls its shape.
        self.extents = Shape(map(Extent, dims))
        self.numel = Extent(math.prod(dims))
        self.name = f"<{list(dims)}, {element}>"

    def with_element_ty(self, scalar_ty: tl.dtype) -> Block:
        """The same sizes of another type."""
        return block(scalar_ty, self.dims)


_BLOCKS: dict[tuple[str, tuple[int, ...]], Block] = {}


def block(element: tl.dtype, dims: tuple[int, ...]) -> Block:
    """A block type, the same object for the same arguments."""
    known = _BLOCKS.get((element.name, dims))
    if known is None:
        known = _BLOCKS[element.name, dims] = Block(element, dims)
    return known


def standard(type_: tl.dtype) -> tl.dtype:
    """A type of Triton's own as one of these."""
    if type_.__class__ is tl.block_type:
        return block(type_.element_ty, tuple(map(int, type_.shape)))
    return type_
