"""Expressions as C++ statements, and the arguments that a kernel needs for them."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

from svc_generator.rules.expr import Expr
from svc_generator.rules.functions import apply
from svc_generator.rules.graph import NotLowerable, Size
from svc_generator.rules.index import Atom, Div, Indirect, Lin, Mod, Var
from svc_generator.rules.program import Buffer

CPP = {
    "float16": "__half",
    "bfloat16": "__hip_bfloat16",
    "float32": "float",
    "float64": "double",
    "bool": "bool",
    **{name: f"{name}_t" for name in ("int64", "int32", "int16", "int8", "uint8")},
}
LOAD = {"float16": "__half2float({})", "bfloat16": "__bfloat162float({})"}
STORE = {"float16": "__float2half({})", "bfloat16": "__float2bfloat16({})"}


@dataclasses.dataclass
class Arguments:
    """What a kernel is given: buffers, sizes as index_t, floating-point numbers."""

    reads: list[Buffer] = dataclasses.field(default_factory=list)
    writes: list[Buffer] = dataclasses.field(default_factory=list)
    sizes: list[Size] = dataclasses.field(default_factory=list)
    numbers: list[tuple[str, tuple[float, ...]]] = dataclasses.field(default_factory=list)

    def size(self, size: Size) -> str:
        """A size as C++ within the kernel: a literal where it never changes, else an argument."""
        if len(set(size)) == 1 and size[0] <= 16:
            return str(size[0])
        return f"n{_position(self.sizes, size)}"

    def number(self, values: tuple[float, ...], dtype: str) -> str:
        return f"s{_position(self.numbers, (dtype, values))}"

    def read(self, buffer: Buffer) -> str:
        if buffer not in self.writes:
            _position(self.reads, buffer)
        return buffer.name

    def write(self, buffer: Buffer) -> str:
        _position(self.writes, buffer)
        return buffer.name

    def parameters(self) -> str:
        """The kernel's parameter list."""
        return ", ".join(
            [f"const {CPP[b.dtype]}* __restrict__ {b.name}" for b in self.reads]
            + [f"{CPP[b.dtype]}* __restrict__ {b.name}" for b in self.writes]
            + [f"index_t n{i}" for i in range(len(self.sizes))]
            + [f"{CPP[dtype]} s{i}" for i, (dtype, _) in enumerate(self.numbers)]
        )


def _position(items: list[Any], item: Any) -> int:
    if item not in items:
        items.append(item)
    return items.index(item)


class Writer:
    """Writes a kernel's body. Each expression is computed once in the block where it is first needed."""

    def __init__(self, arguments: Arguments) -> None:
        self.arguments = arguments
        self.lines: list[str] = []
        # What a load of a buffer of this very kernel means: a local variable, or the expression that makes it.
        self.locals: dict[Buffer, Callable[[], str]] = {}
        # Loads at o of these buffers are lanes of a pack.
        self.packs: dict[Buffer, str] = {}
        self._known: list[dict[Any, str]] = [{}]
        self._bound: list[dict[str, str]] = [{}]
        self._depth = 1
        self._counter = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self._depth + text)

    @contextlib.contextmanager
    def block(self, head: str, **bound: str) -> Iterator[None]:
        """A block in braces; `bound` gives variables their C++ within it."""
        self.line(f"{head} {{".lstrip())
        self._depth += 1
        self._known.append({})
        self._bound.append(bound)
        yield
        self._known.pop()
        self._bound.pop()
        self._depth -= 1
        self.line("}")

    def bind(self, **names: str) -> None:
        """Gives variables their C++ in this block and those inside it."""
        self._bound[-1].update(names)

    def _lookup(self, key: Any) -> str | None:
        return next((scope[key] for scope in reversed(self._known) if key in scope), None)

    def _name(self, key: Any, kind: str, code: str, prefix: str = "v") -> str:
        name = f"{prefix}{self._counter}"
        self._counter += 1
        self.line(f"const {kind} {name} = {code};")
        self._known[-1][key] = name
        return name

    def index(self, index: Lin) -> str:
        """An index as C++ of type index_t."""
        parts = []
        for atom, coefficient in index.terms:
            if all(c < 0 for c in coefficient):
                times = tuple(-c for c in coefficient)
                parts.append("- " + self._times(self._atom(atom), times))
            else:
                parts.append("+ " + self._times(self._atom(atom), coefficient))
        if any(index.const):
            negative = all(c <= 0 for c in index.const)
            amount = tuple(-c for c in index.const) if negative else index.const
            parts.append(("- " if negative else "+ ") + self.arguments.size(amount))
        text = " ".join(parts).removeprefix("+ ")
        return text or "0"

    def _times(self, atom: str, by: Size) -> str:
        factor = self.arguments.size(by)
        return atom if factor == "1" else f"{atom} * {factor}"

    def _atom(self, atom: Atom) -> str:
        if isinstance(atom, Var):
            return next((scope[atom.name] for scope in reversed(self._bound) if atom.name in scope), atom.name)
        if known := self._lookup(atom):
            return known
        if isinstance(atom, Indirect):
            return self._name(atom, "index_t", f"index_t({self.value(atom.value)})", "i")
        sign = "/" if isinstance(atom, Div) else "%"
        assert isinstance(atom, Div | Mod)
        return self._name(atom, "index_t", f"({self.index(atom.of)}) {sign} {self.arguments.size(atom.by)}", "i")

    def value(self, value: Expr) -> str:
        """The name, or the literal, of an expression's value; what it takes is written before."""
        if value.kind == "number":
            return self._number(value)
        if known := self._lookup(value):
            return known
        if value.kind == "guard":
            return self._guard(value)
        if value.kind == "load" and value.args[0] in self.locals:
            return self.locals[value.args[0]]()
        return self._name(value, CPP[value.dtype], self._code(value))

    def _code(self, value: Expr) -> str:
        if value.kind == "load":
            buffer, at = value.args
            if buffer in self.packs and _is_plain(at):
                return LOAD.get(buffer.dtype, "{}").format(self.packs[buffer])
            return LOAD.get(buffer.dtype, "{}").format(f"{self.arguments.read(buffer)}[{self.index(at)}]")
        if value.kind == "index":
            return f"int64_t({self.index(value.args[0])})"
        if value.kind == "cast":
            return convert(self.value(value.args[0]), value.args[0].dtype, value.dtype)
        return apply(value.kind, value.args[0].dtype, [self.value(arg) for arg in value.args])

    def _guard(self, value: Expr) -> str:
        condition, inside, other = value.args
        if condition.kind == "number":
            return self.value(inside if condition.args[0] else other)
        checked = self.value(condition)
        name = f"g{self._counter}"
        self._counter += 1
        start = f" = {self._number(other)}" if other.kind == "number" else ""
        self.line(f"{CPP[value.dtype]} {name}{start};")
        with self.block(f"if ({checked})"):
            self.line(f"{name} = {self.value(inside)};")
        if other.kind != "number":
            with self.block("else"):
                self.line(f"{name} = {self.value(other)};")
        self._known[-1][value] = name
        return name

    def _number(self, value: Expr) -> str:
        given = value.args[0]
        if isinstance(given, tuple):
            return self.arguments.number(given, value.dtype)
        return literal(given, value.dtype)

    def store(self, buffer: Buffer, at: Lin, value: Expr) -> None:
        """Writes a value to memory in the buffer's dtype."""
        name = self.value(value)
        working = "float32" if buffer.dtype in STORE else buffer.dtype
        code = STORE.get(buffer.dtype, "{}").format(convert(name, value.dtype, working))
        self.line(f"{self.arguments.write(buffer)}[{self.index(at)}] = {code};")


def _is_plain(at: Lin) -> bool:
    """True for the index o itself."""
    if len(at.terms) != 1 or any(at.const):
        return False
    atom, coefficient = at.terms[0]
    return isinstance(atom, Var) and atom.name == "o" and set(coefficient) == {1}


def convert(code: str, source: str, target: str) -> str:
    """A conversion; to bool it asks whether the value is zero."""
    if source == target:
        return code
    return f"({code} != 0)" if target == "bool" else f"{CPP[target]}({code})"


def literal(value: Any, dtype: str) -> str:
    """A number as C++ of a dtype."""
    if dtype in ("float32", "float64"):
        number = float(value)
        suffix = "f" if dtype == "float32" else ""
        if math.isnan(number):
            return "NAN"
        if math.isinf(number):
            return "INFINITY" if number > 0 else "-INFINITY"
        text = repr(number)
        return f"{text}{suffix}" if "." in text or "e" in text else f"{text}.0{suffix}"
    if dtype == "bool":
        return "true" if value else "false"
    if dtype in CPP:
        return f"{CPP[dtype]}({int(value)})"
    raise NotLowerable(f"dtype {dtype}", "no literal")
