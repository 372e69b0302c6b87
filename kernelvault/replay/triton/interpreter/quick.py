"""Functions of Triton's language that kernels call most, without the detours of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl

from kernelvault.replay.triton.interpreter.arithmetic import UNARY
from kernelvault.replay.triton.interpreter.builder import Builder
from kernelvault.replay.triton.interpreter.control import plain
from kernelvault.replay.triton.interpreter.formats import block, held, round_to
from kernelvault.replay.triton.interpreter.tensors import Handle, Tensor, of_array

_UNARY = ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "erf", "floor", "ceil")
_FLOATS = ("fp32", "fp64")


def functions(builder: Builder, longer: Callable[[str], Callable[..., Any]]) -> dict[str, Any]:
    """The functions by name; `longer` gives the way to do what these leave out."""
    found: dict[str, Any] = {name: _unary(builder, name, longer(name)) for name in _UNARY}
    return found | {
        "arange": _arange(longer("arange")),
        "full": _full(longer("full")),
        "program_id": _program_id(builder),
    }


def _unary(builder: Builder, name: str, longer: Callable[..., Any]) -> Callable[..., Any]:
    operation = UNARY[name]

    def call(x: Any, **options: Any) -> Any:
        if x.__class__ is not Tensor or x.type.scalar.name not in _FLOATS:
            return longer(x, **options)
        data = x.handle.data
        result = builder.made(operation(data).astype(data.dtype, copy=False), x.type.scalar, floating=True)
        return Tensor(result, x.type)

    return call


def _arange(longer: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[tuple[int, int], Tensor] = {}

    def arange(start: Any, end: Any, **_: Any) -> Any:
        key = (plain(start), plain(end))
        if key not in known:
            made = longer(start, end)
            made.handle.data.flags.writeable = False
            known[key] = made
        return known[key]

    return arange


def _full(longer: Callable[..., Any]) -> Callable[..., Any]:
    def full(shape: Any, value: Any, dtype: Any, **_: Any) -> Any:
        number, type_ = plain(value), plain(dtype)
        if number.__class__ not in (int, float) or not isinstance(shape, tuple | list):
            return longer(shape, value, dtype)
        dims = tuple(plain(size) for size in shape)
        if not all(isinstance(size, int) for size in dims) or not dims:
            return longer(shape, value, dtype)
        one = round_to(np.array([number]).astype(held(type_)), type_)
        return Tensor(Handle(np.full(dims, one[0], one.dtype), type_), block(type_, dims))

    return full


def _program_id(builder: Builder) -> Callable[..., Any]:
    def program_id(axis: Any, **_: Any) -> Tensor:
        return of_array(np.asarray(builder.program[plain(axis)], np.int32), tl.int32)

    return program_id
