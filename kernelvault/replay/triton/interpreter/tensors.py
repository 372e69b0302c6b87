"""The tensors that kernels compute with: Triton's interface, numpy arrays inside, little work for each operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as stock

from kernelvault.replay.triton.interpreter.formats import Array, Block, Extent, Shape, block, standard

if TYPE_CHECKING:
    from kernelvault.replay.triton.interpreter.semantic import Semantic


_WHOLE = slice(None)
_NO_SHAPE = Shape([])


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
        self.type = standard(type) if type.__class__ is tl.block_type else type

    @property
    def shape(self) -> tl.tuple:
        """Of the sizes."""
        return self.type.extents if self.type.__class__ is Block else _NO_SHAPE

    @property
    def numel(self) -> Extent:
        """The number of elements."""
        return self.type.numel if self.type.__class__ is Block else Extent(1)

    @property
    def dtype(self) -> tl.dtype:
        """Of an element."""
        return self.type.scalar

    @property
    def T(self) -> Tensor:
        """Transposed."""
        return self.semantic.permute(self, (1, 0))

    def __getitem__(self, slices: Any) -> Tensor:
        """New axes and whole ones, `x[:, None]`."""
        parts = slices if slices.__class__ is tuple else (slices,)
        index = tuple(None if part is None else _WHOLE for part in parts if part is None or part == _WHOLE)
        if len(index) != len(parts) or not self.type.is_block():
            general: Tensor = tl.tensor.__getitem__(self, slices, _semantic=self.semantic)
            return general
        return of_array(self.handle.data[index], self.type.scalar)

    def to(self, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False, _semantic: Any = None) -> Tensor:
        """The same numbers, or the same bits, as another type."""
        type_ = _plain(dtype)
        if _plain(bitcast):
            return self.semantic.bitcast(self, type_)
        return self.semantic.cast(self, type_, _plain(fp_downcast_rounding))

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


def _operator(name: str, owner: Any = tl.tensor) -> Callable[..., Any]:
    """A method of a class of Triton's own, which needs to be told the semantic."""
    function = getattr(owner, name)

    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        options["_semantic"] = self.semantic
        return function(self, *arguments, **options)

    call.__name__ = name
    return call


def _binary(method: str, *more: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """An operator with a tensor on the left, and one with it on the right."""

    def left(self: Tensor, other: Any) -> Any:
        return getattr(self.semantic, method)(self, _plain(other), *more)

    def right(self: Tensor, other: Any) -> Any:
        return getattr(self.semantic, method)(_plain(other), self, *more)

    return left, right


def _comparison(method: str) -> Callable[..., Any]:
    """A comparison: a number on the other side has a type of its own, unlike in arithmetic."""

    def call(self: Tensor, other: Any) -> Any:
        semantic = self.semantic
        return getattr(semantic, method)(self, other if other.__class__ is Tensor else semantic.to_tensor(other))

    return call


def _plain(value: Any) -> Any:
    return value.value if value.__class__ is tl.constexpr else value


# What the operators do in Triton's class, without its detours.
_ARITHMETIC: dict[str, tuple[str, tuple[bool, ...]]] = {
    "add": ("add", (True,)),
    "sub": ("sub", (True,)),
    "mul": ("mul", (True,)),
    "truediv": ("truediv", ()),
    "floordiv": ("floordiv", ()),
    "mod": ("mod", ()),
    "and": ("and_", ()),
    "or": ("or_", ()),
    "xor": ("xor_", ()),
}
_COMPARISONS = {"lt": "less_than", "le": "less_equal", "gt": "greater_than", "ge": "greater_equal"}


def install_operators() -> None:
    """Gives Tensor the operators of Triton's class; its functions as methods come from the namespace."""
    for name, (method, more) in _ARITHMETIC.items():
        left, right = _binary(method, *more)
        setattr(Tensor, f"__{name}__", left)
        setattr(Tensor, f"__r{name}__", right)
    for name, method in _COMPARISONS.items():
        setattr(Tensor, f"__{name}__", _comparison(method))
    for name, value in vars(tl.tensor).items():
        if getattr(value, "__triton_builtin__", False) and name not in vars(Tensor) and name != "__hash__":
            setattr(Tensor, name, _operator(name))


class View(tl.tensor_descriptor):
    """A tensor descriptor, whose methods know the semantic."""

    @property
    def semantic(self) -> Semantic:
        """That of tensors."""
        return Tensor.semantic


def install_methods() -> None:
    """Gives View the methods of Triton's class."""
    for name in dir(tl.tensor_descriptor):
        if getattr(getattr(tl.tensor_descriptor, name), "__triton_builtin__", False):
            setattr(View, name, _operator(name, tl.tensor_descriptor))


install_operators()
install_methods()
