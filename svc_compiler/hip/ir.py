"""Reading LLVM IR as text: just enough of its grammar to find types, globals and parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_OPEN, _CLOSE = "([{<", ")]}>"
_SCALAR_BITS = {"ptr": 64, "double": 64, "float": 32, "half": 16, "bfloat": 16, "fp128": 128}
_SYMBOL = r'(?:"[^"]*"|[\w.$-]+)'
_GLOBAL = re.compile(rf"^@({_SYMBOL}) = ([^\n]*?)\b(global|constant) ([^\n]*)$", re.MULTILINE)


class Unreadable(Exception):
    """The IR holds something that this reader does not know; the message says what."""


@dataclass(frozen=True)
class Global:
    """A global variable: `@symbol = prefix kind type initializer, attributes`."""

    symbol: str  # as in the text, maybe quoted
    prefix: str  # linkage, visibility...
    kind: str  # `global` or `constant`
    type: str
    initializer: str  # empty for a declaration
    attributes: list[str]
    start: int
    end: int

    @property
    def name(self) -> str:
        """The symbol without quotes."""
        return self.symbol.strip('"')


def split(text: str) -> list[str]:
    """Splits at commas outside of brackets and quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def balanced(text: str, start: int) -> str:
    """The text inside of the bracket that opens at `start`; raises Unreadable if it does not close."""
    depth, quoted = 0, False
    for i in range(start, len(text)):
        char = text[i]
        if char == '"':
            quoted = not quoted
        elif not quoted:
            depth += (char in _OPEN) - (char in _CLOSE)
            if depth == 0:
                return text[start + 1 : i]
    raise Unreadable("unbalanced brackets")


def leading_type(text: str) -> str:
    """The type that `text` starts with."""
    if text[:1] in ("[", "{", "<"):
        return text[: len(balanced(text, 0)) + 2]
    match = re.match(rf"%{_SYMBOL}|\w+", text)
    if not match:
        raise Unreadable(f"no type in {text[:60]!r}")
    return match[0]


def globals_of(ir: str) -> Iterator[Global]:
    """The global variables of a module, in order."""
    for match in _GLOBAL.finditer(ir):
        value, *attributes = split(match[4])
        type_ = leading_type(value)
        yield Global(
            symbol=match[1],
            prefix=match[2],
            kind=match[3],
            type=type_,
            initializer=value[len(type_) :].strip(),
            attributes=attributes,
            start=match.start(),
            end=match.end(),
        )


def bits(type_: str) -> int:
    """Bits of a scalar or a vector; raises Unreadable for anything else."""
    if vector := re.fullmatch(r"<(\d+) x (\S+)>", type_):
        return int(vector[1]) * bits(vector[2])
    if integer := re.fullmatch(r"i(\d+)", type_):
        return int(integer[1])
    if type_ not in _SCALAR_BITS:
        raise Unreadable(f"the type {type_[:80]!r}")
    return _SCALAR_BITS[type_]


@dataclass(frozen=True)
class Layout:
    """A type in memory; `used` are the offsets of the bytes that hold a member, the others are padding."""

    size: int
    align: int
    used: frozenset[int]


def layout(type_: str, ir: str) -> Layout:
    """How x86-64 lays out a type of the module `ir`."""
    if array := re.fullmatch(r"\[(\d+) x (.*)\]", type_, re.DOTALL):
        inner = layout(array[2], ir)
        used = frozenset(i * inner.size + u for i in range(int(array[1])) for u in inner.used)
        return Layout(inner.size * int(array[1]), inner.align, used)
    if type_.startswith("%"):
        definition = re.search(rf"^{re.escape(type_)} = type (.*)$", ir, re.MULTILINE)
        if not definition:
            raise Unreadable(f"the type {type_[:80]!r}")
        return layout(definition[1], ir)
    if type_.startswith(("{", "<{")):
        return _struct_layout(type_, ir)
    filled = -(-bits(type_) // 8)
    size = 1 << (filled - 1).bit_length()
    return Layout(size, size, frozenset(range(filled)))


def _struct_layout(type_: str, ir: str) -> Layout:
    packed, end, most = type_.startswith("<{"), 0, 1
    used: set[int] = set()
    for member in split(type_.strip("<>").strip()[1:-1]):
        inner = layout(member, ir)
        align = 1 if packed else inner.align
        end = -(-end // align) * align
        used |= {end + u for u in inner.used}
        end, most = end + inner.size, max(most, align)
    return Layout(-(-end // most) * most, most, frozenset(used))
