"""The text of a `def` without the annotations of its head, every line and column in its place."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from kernelvault.v1 import triton_pb2


def of(function: triton_pb2.TritonProgram.Function, node: ast.FunctionDef) -> str:
    """The `def` with annotations gone from its head, but those that say `constexpr`; every line keeps its number.

    Annotations are foreign expressions, and Python evaluates them.
    """
    lines = [line.encode() for line in function.source.split("\n")[: node.end_lineno]]
    for start, end, keep in sorted(_annotations(node, lines), reverse=True):
        (first, begin), (last, stop) = start, end
        kept = b': "constexpr"' if keep else b""
        # At least as wide as before, if it stood on one line: columns stay right.
        width = stop - begin if first == last else 0
        tail = lines[last][stop:]
        lines[first] = lines[first][:begin] + kept.ljust(width) + (tail if first == last else b"")
        if first != last:
            lines[first + 1 : last + 1] = [b""] * (last - first - 1) + [tail]
    # As Triton reads it: it empties blank lines, within strings too.
    return textwrap.dedent(b"\n".join(lines).decode() + "\n")


_Place = tuple[int, int]


def _annotations(node: ast.FunctionDef, lines: list[bytes]) -> Iterator[tuple[_Place, _Place, bool]]:
    """Where the head's annotations stand, from their `:` or `->` on: line and byte from 0, end, whether constexpr."""
    for argument in node.args.args:
        if argument.annotation is not None:
            start = (argument.lineno - 1, argument.col_offset + len(argument.arg.encode()))
            end = (argument.end_lineno or argument.lineno) - 1, argument.end_col_offset or 0
            yield start, end, is_constexpr(argument.annotation)
    if node.returns is not None:
        start = _arrow(node, lines)
        end = (node.returns.end_lineno or 1) - 1, node.returns.end_col_offset or 0
        yield start, end, False


def is_constexpr(annotation: ast.expr | None) -> bool:
    """Whether an annotation makes its parameter a constant: `tl.constexpr`, `constexpr`, or either as text."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value.strip().rpartition(".")[2] == "constexpr"
    last = annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", "")
    return last == "constexpr"


def _arrow(node: ast.FunctionDef, lines: list[bytes]) -> _Place:
    """Where the `->` of a return annotation stands: the last one before it."""
    assert node.returns is not None
    line, stop = node.returns.lineno - 1, node.returns.col_offset
    while line >= 0:
        at = lines[line][:stop].rfind(b"->")
        if at >= 0:
            return line, at
        line, stop = line - 1, 1 << 30
    return node.returns.lineno - 1, node.returns.col_offset
