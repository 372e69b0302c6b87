"""From the unified graph to a program: one launcher's cases, which have one dtype for each tensor."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from svc_generator.rules import expr, index, sizes
from svc_generator.rules.expr import Expr
from svc_generator.rules.graph import Graph, Node, NotLowerable, Ref, Size, Varying
from svc_generator.rules.index import Lin
from svc_generator.rules.program import Loader, Program, Tensor

Rule = Callable[["Lowering", Node], Tensor]
CONSTANTS = {
    "full",
    "full_like",
    "scalar_tensor",
    "empty",
    "empty_like",
    "empty_permuted",
    "zeros",
    "ones",
    "empty_strided",
}


@dataclasses.dataclass
class Lowering:
    """Lowers nodes in order; `cases` are those whose dtypes count."""

    graph: Graph
    cases: Sequence[int]
    program: Program
    values: dict[int, Tensor] = dataclasses.field(default_factory=dict)

    @property
    def count(self) -> int:
        return self.graph.case_count

    def dtype(self, node: Node) -> str:
        """The dtype of a node's result; raises NotLowerable where the cases of one launcher disagree."""
        found = {node.dtypes[case] for case in self.cases}
        if len(found) > 1:
            raise NotLowerable(node.op, f"cases of one launcher give it the dtypes {sorted(found)}")
        return found.pop()

    def tensor(self, ref: Ref) -> Tensor:
        """An operand, through its conversions."""
        value = self.values[ref.node]
        chains = {ref.casts[case] for case in self.cases}
        if len(chains) > 1:
            raise NotLowerable("_to_copy", "cases of one launcher convert between different dtypes")
        for dtype in chains.pop():
            value = converted(value, dtype)
        return value

    def size(self, value: Any) -> Size:
        """An integer argument as a size."""
        return value if isinstance(value, tuple) else sizes.constant(int(value), self.count)

    def dims_of(self, value: Any, rank: int) -> list[int]:
        """An argument that lists dimensions; none, or an empty list, means all."""
        if isinstance(value, int):
            value = [value]
        if not all(isinstance(d, int) for d in value or []):
            raise NotLowerable("a dimension", "its number differs between the cases")
        return sorted(d % rank for d in value) if value else list(range(rank))

    def pointwise(self, node: Node, rule: Callable[[dict[str, Any], str], Expr]) -> Tensor:
        """An elementwise operator with broadcasting."""
        dtype = self.dtype(node)
        operands = {key: self.tensor(value) for key, value in node.args.items() if isinstance(value, Ref)}
        plain = {
            key: value.values if isinstance(value, Varying) else value
            for key, value in node.args.items()
            if key not in operands
        }

        def load(at: Sequence[Lin]) -> Expr:
            given = {key: value.load(self.broadcast(at, node.dims, value.dims)) for key, value in operands.items()}
            return rule({**plain, **given}, dtype)

        return Tensor(node.dims, dtype, memoized(load))

    def broadcast(self, at: Sequence[Lin], dims: Sequence[Size], target: Sequence[Size]) -> list[Lin]:
        """The index into a tensor of sizes `target` that broadcasts to `dims`."""
        offset = len(dims) - len(target)
        return [self.stretched(at[offset + i], dims[offset + i], size) for i, size in enumerate(target)]

    def stretched(self, at: Lin, dim: Size, size: Size) -> Lin:
        """An index into a dimension of `size` that is stretched to `dim`; it may be stretched in some cases only."""
        if size == dim:
            return at
        if sizes.is_one(size):
            return index.const(0, self.count)
        moves = tuple(int(s != 1) for s in size)
        return index.scale(at, moves)


def converted(value: Tensor, dtype: str) -> Tensor:
    """A conversion as PyTorch makes it; between floating-point types nothing is rounded before a store."""
    return Tensor(value.dims, dtype, lambda at: expr.cast(value.load(at), dtype))


def memoized(load: Loader) -> Loader:
    """Without it, a value that is used twice at each of n steps would be built 2^n times."""
    known: dict[tuple[Lin, ...], Expr] = {}

    def cached(at: Sequence[Lin]) -> Expr:
        key = tuple(at)
        if key not in known:
            known[key] = load(key)
        return known[key]

    return cached
