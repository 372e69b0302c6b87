"""Values of a Triton program and Python's, both ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from kernelvault.replay.triton import imported
from kernelvault.replay.triton.malformed import Malformed, require
from kernelvault.v1 import triton_pb2

Value = triton_pb2.TritonProgram.Value

MAX_TEXT_CHARACTERS = 4096
MAX_DEPTH = 8
MAX_TUPLE = 1024
_SCALAR_NAMES = "i1 i8 i16 i32 i64 u1 u8 u16 u32 u64 fp16 bf16 fp32 fp64 fp8e4nv fp8e5 fp8e4b8 fp8e5b16 fp8e4b15 void"
_SCALARS = frozenset(_SCALAR_NAMES.split())
# As Triton's dtypes spell themselves, beside the names in signatures.
_SPELLED = {"int1": "i1", "u1": "i1", **{f"int{n}": f"i{n}" for n in (8, 16, 32, 64)}}
_SPELLED |= {f"uint{n}": f"u{n}" for n in (8, 16, 32, 64)}


class Unsupported(ValueError):
    """A Python value has no form in a Triton program; the message says what it is."""


def check(value: triton_pb2.TritonProgram.Value, functions: int, field: str, depth: int = 0) -> None:
    """Raises Malformed unless a value is whole; `functions` is how many there are to refer to."""
    require(depth <= MAX_DEPTH, field, "is nested too deep")
    match value.WhichOneof("value"):
        case "text":
            require(len(value.text) <= MAX_TEXT_CHARACTERS, field, "is too long a text")
        case "dtype":
            require(is_dtype(value.dtype), field, f"{value.dtype[:40]!r} is no dtype")
        case "function":
            require(0 <= value.function < functions, field, f"there is no function {value.function}")
        case "imported":
            imported.check_name(value.imported, field)
        case "tuple":
            require(len(value.tuple.values) <= MAX_TUPLE, field, "has too many elements")
            for i, element in enumerate(value.tuple.values):
                check(element, functions, f"{field}[{i}]", depth + 1)
        case "none":
            require(value.none, field, "is neither None nor anything else")
        case None:
            raise Malformed(field, "holds no value")
        case _:
            pass


def is_dtype(text: str) -> bool:
    """Whether a text is a dtype as Triton's signatures spell it: `fp32`, `*fp16`, `*kfp32` for a constant pointer."""
    bare = text.removeprefix("*")
    if bare != text:
        bare = bare.removeprefix("k")
    return bare in _SCALARS


def referenced(value: triton_pb2.TritonProgram.Value) -> list[int]:
    """The functions that a value refers to."""
    if value.WhichOneof("value") == "tuple":
        return [index for element in value.tuple.values for index in referenced(element)]
    return [value.function] if value.WhichOneof("value") == "function" else []


# By index; those that do not exist yet are missing.
Functions = Sequence[object] | Mapping[int, object]


def constant(value: triton_pb2.TritonProgram.Value, functions: Functions = (), field: str = "value") -> Any:
    """The Python value, with `functions` by their index. Raises Malformed. Imports Triton for what is Triton's."""
    found = _plain(value, functions, field)
    if not value.constexpr:
        return found
    import triton.language as tl

    return tl.constexpr(found)


def _plain(value: triton_pb2.TritonProgram.Value, functions: Functions, field: str) -> Any:
    match value.WhichOneof("value"):
        case "dtype":
            return _dtype(value.dtype, field)
        case "function":
            try:
                return functions[value.function]
            except LookupError:
                raise Malformed(field, f"there is no function {value.function}") from None
        case "imported":
            return imported.resolve(value.imported, field)
        case "tuple":
            return tuple(constant(v, functions, f"{field}[{i}]") for i, v in enumerate(value.tuple.values))
        case "none":
            return None
        case None:
            raise Malformed(field, "holds no value")
        case kind:
            return getattr(value, kind)


def _dtype(text: str, field: str) -> object:
    import triton.language as tl

    require(is_dtype(text), field, f"{text[:40]!r} is no dtype")
    return tl.str_to_ty(text, None) if text.startswith("*") else tl.dtype(_name(text))


def _name(text: str) -> str:
    """`int32` for `i32`: what `tl.dtype` takes."""
    if text in ("i1", "u1"):
        return "int1"
    return {"i": "int", "u": "uint"}[text[0]] + text[1:] if text[0] in "iu" else text


def value_of(python: object, function_index: Callable[[object], int] | None = None) -> triton_pb2.TritonProgram.Value:
    """The message for a Python value.

    `function_index` gives the index of a `@triton.jit` function, and may raise Unsupported. Raises Unsupported, which
    names the type, for what has no form there, such as a tensor, a class or an integer beyond 64 bits.
    """
    return _value_of(python, function_index, 0)


def _value_of(python: Any, function_index: Callable[[object], int] | None, depth: int) -> Value:
    import triton.language as tl
    from triton.runtime.jit import JITCallable

    if depth > MAX_DEPTH:
        raise Unsupported("a tuple that is nested too deep")
    if isinstance(python, tl.constexpr):
        inner = _value_of(python.value, function_index, depth + 1)
        inner.constexpr = True
        return inner
    if isinstance(python, tl.dtype):
        return Value(dtype=_spelled(python))
    if name := imported_name(python):
        return Value(imported=name)
    if isinstance(python, JITCallable) and function_index is not None:
        return Value(function=function_index(python))
    if isinstance(python, tuple | list | tl.tuple):
        elements = [_value_of(element, function_index, depth + 1) for element in python]
        return Value(tuple=triton_pb2.TritonProgram.Tuple(values=elements))
    return _atom(python)


def _atom(python: object) -> Value:
    if python is None:
        return Value(none=True)
    if type(python) is bool:
        return Value(boolean=python)
    if isinstance(python, int):
        if not -(1 << 63) <= int(python) < 1 << 63:
            raise Unsupported("an integer beyond 64 bits")
        return Value(integer=int(python))
    if isinstance(python, float):
        return Value(number=float(python))
    if isinstance(python, str) and len(python) <= MAX_TEXT_CHARACTERS:
        return Value(text=str(python))
    kind = type(python)
    raise Unsupported(f"a value of type {kind.__module__}.{kind.__qualname__}")


def _spelled(dtype: Any) -> str:
    if dtype.is_ptr():
        return f"*{'k' if dtype.const else ''}{_spelled(dtype.element_ty)}"
    text: str = _SPELLED.get(dtype.name, dtype.name)
    if not is_dtype(text):
        raise Unsupported(f"the dtype {text!r}")
    return text


def imported_name(python: object) -> str:
    """The full name under which a kernel may import something, or the empty text."""
    if isinstance(python, ModuleType):
        return python.__name__ if python.__name__ in imported.MODULES else ""
    inner = getattr(python, "fn", python)
    name = f"{getattr(inner, '__module__', '')}.{getattr(inner, '__name__', '')}"
    if not callable(python) or not name.startswith(("triton.language.", "math.", "triton.")):
        return ""
    try:
        found = imported.resolve(name, "value")
    except Malformed:
        return ""
    return name if found is python else ""
