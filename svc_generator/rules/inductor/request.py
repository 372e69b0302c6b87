"""What the child needs to rebuild a graph on symbolic sizes: one request for all dtypes of a task.

A size that differs between the cases is a symbol, one that is equal in all of them a number. Integers and floats that
operators get are expressions of the symbols and of the call's scalars, which hold in every case.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from svc_generator.rules.graph import Graph, NotLowerable, Ref, Size, Varying
from svc_generator.rules.sizes import Sizes, divides, quotient

_CPP = ((r"INT64_C\((-?\d+)\)", r"\1"), (r"\bint64_t\(", "int("), (r"\bdouble\(", "float("), (r" / ", " // "))
_RESHAPES = ("reshape", "expand")


def encode(graph: Graph) -> dict[str, Any]:
    """The request as JSON; raises NotLowerable for a number that no expression gives."""
    return _Encoder(graph).request()


class _Encoder:
    """Names the sizes of one graph.

    `given` knows what a call brings: the dimensions of its tensors and its scalars. The symbols are those of these
    sizes and of their factors that make up the others, so that heads times width is a product and no third size.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.given = Sizes(graph.case_count)
        for position, number in enumerate(graph.inputs):
            for axis, dim in enumerate(graph.nodes[number].dims):
                if _varies(dim):
                    self.given.define(dim, f"t{position}_{axis}")
        for position, value in enumerate(graph.scalars):
            if isinstance(value, tuple):
                self.given.define(value, f"c{position}")
        for node in graph.nodes:
            self.given.describe(node.dims)
        self.symbols: dict[Size, str] = {}
        self.known = Sizes(graph.case_count)
        for size in sorted(self._sizes(), key=lambda size: (sum(size), size)):
            if not _varies(size) or _product_of(size, list(self.symbols)):
                continue
            self.symbols[size] = f"s{len(self.symbols)}"
            self.known.define(size, self.symbols[size])
        for node in graph.nodes:
            self.known.describe(node.dims)
        self.floats: dict[tuple[float, ...], str] = {}
        self.float_definitions: dict[str, str] = {}
        for position, value in enumerate(graph.scalars):
            if isinstance(value, tuple | Varying):
                self.given.define_float(value.values if isinstance(value, Varying) else value, f"c{position}")

    def request(self) -> dict[str, Any]:
        """Symbols with their value in each case and how a call gives them, inputs, and the nodes."""
        nodes = [self._node(number) for number in range(len(self.graph.nodes))]
        definitions = {name: _python(self.given.expression(size)) for size, name in self.symbols.items()}
        return {
            "symbols": {name: list(size) for size, name in self.symbols.items()},
            "floats": {name: list(values) for values, name in self.floats.items()},
            "definitions": definitions | self.float_definitions,
            "inputs": [[self._size(dim) for dim in self.graph.nodes[number].dims] for number in self.graph.inputs],
            "nodes": nodes,
            "outputs": [self._value(ref) for ref in self.graph.outputs],
        }

    def _sizes(self) -> set[Size]:
        """The inputs' dimensions, and their factors that reshapes bring to light."""
        found = {dim for number in self.graph.inputs for dim in self.graph.nodes[number].dims if _varies(dim)}
        for node in self.graph.nodes:
            for dim in node.dims if node.op in _RESHAPES else ():
                if not _product_of(dim, list(found)):
                    rest = _rest(dim, found)
                    found |= {rest} if _varies(rest) and any(divides(rest, whole) for whole in found) else set()
        return found

    def _node(self, number: int) -> dict[str, Any]:
        node = self.graph.nodes[number]
        args = {name: self._value(value) for name, value in node.args.items()}
        if node.op in _RESHAPES:
            args = {"self": args["self"], "size": [self._size(dim) for dim in node.dims]}
        return {"op": node.op, "target": node.target, "args": args, "dtypes": list(node.dtypes)}

    def _value(self, value: Any) -> Any:
        if isinstance(value, Ref):
            return {"node": value.node, "casts": [list(casts) for casts in value.casts]}
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, Varying):
            return {"expression": self._float(value.values)}
        if isinstance(value, tuple):
            return self._size(value)
        if isinstance(value, float) and value in (float("inf"), float("-inf")):
            return {"expression": f"{'-' if value < 0 else ''}inf"}
        return value

    def _float(self, values: tuple[float, ...]) -> str:
        """The symbol of a float that differs between the cases."""
        if values not in self.floats:
            name = f"f{len(self.floats)}"
            self.float_definitions[name] = _python(self.given.float_expression(values))
            self.floats[values] = name
        return self.floats[values]

    def _size(self, size: Size) -> Any:
        if len(set(size)) == 1:
            return size[0]
        return {"expression": _python(self.known.expression(size))}


def _varies(size: Size) -> bool:
    return len(set(size)) > 1


def _rest(size: Size, factors: set[Size]) -> Size:
    """What is left of a size when the largest known factors are taken out."""
    for factor in sorted(factors, key=lambda factor: (sum(factor), factor), reverse=True):
        while divides(factor, size):
            size = quotient(size, factor)
    return size


def _product_of(size: Size, factors: Sequence[Size], most: int = 4) -> bool:
    """True if the size is a constant times a product of some factors."""
    if not _varies(size):
        return True
    return most > 0 and any(
        divides(factor, size) and _product_of(quotient(size, factor), factors, most - 1) for factor in factors
    )


def _python(expression: str) -> str:
    """A C++ expression of `Sizes` in Python: integers divide by `//`, and nothing else divides."""
    for pattern, replacement in _CPP:
        expression = re.sub(pattern, replacement, expression)
    return expression


def groups(graph: Graph) -> list[list[int]]:
    """The cases by the dtypes of their inputs, in order of appearance."""
    found: dict[Sequence[str], list[int]] = {}
    for case in range(graph.case_count):
        found.setdefault(tuple(graph.nodes[number].dtypes[case] for number in graph.inputs), []).append(case)
    return list(found.values())


__all__ = ["NotLowerable", "encode", "groups"]
