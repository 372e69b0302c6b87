"""The tensors that kernels compute with: Triton's interface, numpy arrays inside, little work for each operation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as stock

from kernelvault.replay.triton.interpreter.formats import Array, block

if TYPE_CHECKING:
    from kernelvault.replay.triton.interpreter.semantic import Semantic


class Extent(int):
    """A size: a number that Triton's functions can take for a constant."""

    @property
    def value(self) -> int:
        """As of a `tl.constexpr`."""
        return int(self)


class Handle(stock.TensorHandle):
    """An array with the scalar type of its elements. A scalar's array has one element."""

    def __init__(self, data: Array, dtype: tl.dtype) -> None:
        self.data = data
        self.dtype = dtype

    @property
    def attr(self) -> dict[str, Any]:
        """What `tl.multiple_of` and its like say; nothing here needs it."""
        return {}

    def set_attr(self, key: str, value: object) -> None:
        """Hints are not kept."""


class Tensor(tl.tensor):
    """A block or a scalar."""

    # The semantic that operators ask; set once, when it is made.
    semantic: Semantic

    def __init__(self, handle: Handle, type: tl.dtype) -> None:
        self.handle = handle
        self.type = type

    @property
    def shape(self) -> tl.tuple:
        """Of the sizes."""
        return tl.tuple([Extent(size) for size in self.type.shape] if self.type.is_block() else [])

    @property
    def numel(self) -> Extent:
        """The number of elements."""
        return Extent(math.prod(self.type.shape) if self.type.is_block() else 1)

    @property
    def dtype(self) -> tl.dtype:
        """Of an element."""
        return self.type.scalar

    @property
    def T(self) -> Tensor:
        """Transposed."""
        return self.semantic.permute(self, (1, 0))

    def __index__(self) -> int:
        return int(self.handle.data.reshape(-1)[0])

    def __bool__(self) -> bool:
        # Triton's own functions ask whether an optional block is there.
        data = self.handle.data
        return bool(data.reshape(-1)[0]) if data.size == 1 else True

    def __str__(self) -> str:
        return str(self.handle.data)

    __repr__ = __str__
    __hash__ = object.__hash__


def of_array(data: Array, dtype: tl.dtype) -> Tensor:
    """A tensor of an array of held values; without dimensions it becomes a scalar."""
    if data.ndim == 0:
        return Tensor(Handle(data.reshape(1), dtype), dtype)
    return Tensor(Handle(data, dtype), block(dtype, data.shape))


def scalar_of(value: float | int | bool, dtype: tl.dtype, held: np.dtype[Any]) -> Tensor:
    """A scalar."""
    return Tensor(Handle(np.array([value], held), dtype), dtype)


def _operator(name: str) -> Callable[..., Any]:
    """An operator of Triton's own class, which needs to be told the semantic."""
    function = getattr(tl.tensor, name)

    def call(self: Tensor, *arguments: Any, **options: Any) -> Any:
        options["_semantic"] = self.semantic
        return function(self, *arguments, **options)

    call.__name__ = name
    return call


def install_operators() -> None:
    """Gives Tensor the operators of Triton's class; its functions as methods come from the namespace."""
    for name, value in vars(tl.tensor).items():
        if getattr(value, "__triton_builtin__", False) and name not in vars(Tensor) and name != "__hash__":
            setattr(Tensor, name, _operator(name))


install_operators()
