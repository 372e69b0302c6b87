"""Copies of vectors as loads and stores: -fsanitize=thread tells no alignment of a copy.

`to[i] = from[i]` of vectors of 16 bytes is a memcpy for clang. One with a local variable on one side is left to the
optimiser, which makes loads and stores of it by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_BYTES = 16
_POINTER = r"ptr align (?:16|32|64) ([%@][^\s,]+), "
# What can be split, up to four vectors.
_COPY = re.compile(
    rf"  call void @llvm\.memcpy\.p0\.p0\.i64\({_POINTER}{_POINTER}i64 (16|32|48|64), i1 false\)"
    r"(?: #[0-9]+)?(, !dbg ![0-9]+)?"
)
_ALLOCA = re.compile(r"  (%\S+) = alloca ")
_INSIDE = re.compile(r"  (%\S+) = getelementptr [^\n]*?, ptr (%[^\s,]+),")


def split(module: str) -> str:
    """The module without memcpy of whole vectors between places that are no local variables."""
    return "".join(_lines(module)) if _COPY.search(module) else module


def _lines(module: str) -> Iterator[str]:
    own: set[str] = set()
    for number, line in enumerate(module.splitlines(keepends=True)):
        if line.startswith("define "):
            own = set()
        elif local := _ALLOCA.match(line):
            own.add(local[1])
        elif (inside := _INSIDE.match(line)) and inside[2] in own:
            own.add(inside[1])
        elif (copy := _COPY.match(line)) and not own & {copy[1], copy[2]}:
            yield from _accesses(copy, f"%kv.copy.{number}")
            continue
        yield line


def _accesses(copy: re.Match[str], name: str) -> Iterator[str]:
    to, source, size, debug = copy.groups(default="")
    for at in range(0, int(size), _BYTES):
        yield f"  {name}.{at} = getelementptr i8, ptr {source}, i64 {at}\n"
        yield f"  {name}.{at}.to = getelementptr i8, ptr {to}, i64 {at}\n"
        yield f"  {name}.{at}.vector = load i128, ptr {name}.{at}, align {_BYTES}{debug}\n"
        yield f"  store i128 {name}.{at}.vector, ptr {name}.{at}.to, align {_BYTES}{debug}\n"
