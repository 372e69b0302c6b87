"""One syntax tree for the trees of several dtypes, where they differ in dtypes and conversions only."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from svc_generator.rules.inductor.casts import cast_of

_DTYPES = {"float16", "bfloat16", "float32"}
Resolve = Callable[[tuple[str, ...]], ast.expr | None]
"""The expression for a dtype in each of the trees, or None where there is none."""


class Different(Exception):
    """The trees differ in more."""


def merge(trees: Sequence[ast.AST], resolve: Resolve, *, wide: Sequence[bool]) -> ast.AST:
    """The tree that stands for all; raises Different.

    `wide` tells the trees that know no floating-point type but float32: a conversion that the others have and they have
    not is one from float32 to float32.
    """
    return _Merger(resolve, wide).node(list(trees))


class _Merger:
    def __init__(self, resolve: Resolve, wide: Sequence[bool]) -> None:
        self.resolve = resolve
        self.wide = wide

    def node(self, nodes: list[ast.AST]) -> ast.AST:
        """The merged node."""
        nodes = self._align(nodes)
        first = nodes[0]
        if any(type(node) is not type(first) for node in nodes):
            raise Different
        if isinstance(first, ast.Attribute) and all(isinstance(node, ast.Attribute) for node in nodes):
            names = tuple(node.attr for node in nodes if isinstance(node, ast.Attribute))
            if len(set(names)) > 1 and set(names) <= _DTYPES:
                expression = self.resolve(names)
                if expression is None:
                    raise Different
                return expression
        for field in first._fields:
            setattr(first, field, self._value([getattr(node, field, None) for node in nodes]))
        return first

    def _value(self, values: list[object]) -> object:
        first = values[0]
        if isinstance(first, ast.AST):
            return self.node([value for value in values if isinstance(value, ast.AST)])
        if isinstance(first, list):
            if any(not isinstance(value, list) or len(value) != len(first) for value in values):
                raise Different
            return [self._value(list(items)) for items in zip(*values, strict=True)]
        if any(value != first or type(value) is not type(first) for value in values):
            raise Different
        return first

    def _align(self, nodes: list[ast.AST]) -> list[ast.AST]:
        casts = [cast_of(node) is not None for node in nodes]
        if not any(casts) or all(casts):
            return nodes
        if any(not cast and not wide for cast, wide in zip(casts, self.wide, strict=True)):
            raise Different
        return [node if cast else _cast(node) for node, cast in zip(nodes, casts, strict=True)]


def _cast(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.expr)
    dtype = ast.Attribute(ast.Name("tl", ast.Load()), "float32", ast.Load())
    return ast.Call(ast.Attribute(node, "to", ast.Load()), [dtype], [])
