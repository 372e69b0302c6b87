"""Scalar expressions of a kernel's body. Equal expressions are one object, so that graphs stay graphs."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Iterator
from typing import Any

from svc_generator.rules.graph import FLOATS, NotLowerable
from svc_generator.rules.index import Lin

_NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "div": 1}
_RANK = {"bool": 0, "uint8": 1, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "float32": 5, "float64": 6}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Expr:
    """A node of an expression; `serial` orders them the same way in every run.

    `kind` is `load`, `number`, `index`, `guard`, `local` or the name of a function; `dtype` is what it is computed in.

    `load` holds a buffer and an index; `guard` evaluates its second operand only where the first holds, else the third.
    """

    kind: str
    dtype: str
    args: tuple[Any, ...]
    serial: int

    def __repr__(self) -> str:
        return f"e{self.serial}"


_interned: dict[tuple[Any, ...], Expr] = {}
_lock = threading.Lock()


def make(kind: str, dtype: str, *args: Any) -> Expr:
    """The one expression of this kind with these arguments."""
    key = (kind, dtype, *((type(a), a) for a in args))
    found = _interned.get(key)
    if found is None:
        found = _interned[key] = Expr(kind, dtype, args, len(_interned))
    return found


@contextlib.contextmanager
def fresh() -> Iterator[None]:
    """An empty table for one program at a time: serials, and so sources, depend on nothing that came before."""
    with _lock:
        _interned.clear()
        try:
            yield
        finally:
            _interned.clear()


def working(dtype: str) -> str:
    """What values of a dtype are computed in: float32 for the narrow types, as torch does."""
    return "float32" if dtype in ("float16", "bfloat16") else dtype


def load(buffer: Any, index: Lin) -> Expr:
    return make("load", working(buffer.dtype), buffer, index)


def number(value: Any, dtype: str) -> Expr:
    """A constant, or a tuple of one number for each case."""
    return make("number", working(dtype), value)


def from_index(index: Lin) -> Expr:
    """An index as an int64 value."""
    return make("index", "int64", index)


def call(name: str, *args: Expr, dtype: str = "") -> Expr:
    """A function of scalars; its operands are brought to one dtype."""
    common = dtype or promote(*(a.dtype for a in args))
    if name in _NEUTRAL and len(args) == 2:
        for value, other in (args, args[::-1] if name in ("add", "mul") else args):
            if other.kind == "number" and other.args[0] == _NEUTRAL[name]:
                return cast(value, common)
    return make(name, common, *(cast(a, common) for a in args))


def compare(name: str, a: Expr, b: Expr) -> Expr:
    common = promote(a.dtype, b.dtype)
    return make(name, "bool", cast(a, common), cast(b, common))


def where(condition: Expr, a: Expr, b: Expr, dtype: str) -> Expr:
    return make("where", working(dtype), cast(condition, "bool"), cast(a, working(dtype)), cast(b, working(dtype)))


def guard(condition: Expr, value: Expr, other: Expr) -> Expr:
    return make("guard", value.dtype, condition, value, cast(other, value.dtype))


def cast(value: Expr, dtype: str) -> Expr:
    """A conversion; one between float16, bfloat16 and float32 happens when a value is stored, not before."""
    target = working(dtype)
    if value.dtype == target:
        return value
    if value.kind == "number" and not isinstance(value.args[0], tuple) and target in FLOATS:
        return number(float(value.args[0]), target)
    return make("cast", target, value)


def promote(*dtypes: str) -> str:
    """The widest of dtypes as torch promotes them."""
    try:
        return max((working(d) for d in dtypes), key=_RANK.__getitem__)
    except KeyError as error:
        raise NotLowerable(f"dtype {error.args[0]}", "the rules have no arithmetic for it") from error


def walk(roots: list[Expr]) -> list[Expr]:
    """All expressions below `roots`, each once, including those inside indices."""
    seen: dict[int, Expr] = {}
    stack = list(roots)
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen[id(item)] = item
        for arg in item.args:
            if isinstance(arg, Expr):
                stack.append(arg)
            elif isinstance(arg, Lin):
                stack += _inside(arg)
    return list(seen.values())


def _inside(index: Lin) -> list[Expr]:
    found: list[Expr] = []
    for atom, _ in index.terms:
        if hasattr(atom, "value"):
            found.append(atom.value)
        elif hasattr(atom, "of"):
            found += _inside(atom.of)
    return found
