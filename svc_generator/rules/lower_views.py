"""Operators that move elements or make them from nothing: views, concatenation, gathers, constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from svc_generator.rules import expr, index, sizes
from svc_generator.rules.expr import Expr
from svc_generator.rules.graph import Node, NotLowerable, Ref, Size, Varying
from svc_generator.rules.index import Lin
from svc_generator.rules.lowering import CONSTANTS, Lowering, Rule, memoized
from svc_generator.rules.program import Tensor

_TO_THE_END = 1 << 40


def reshape(low: Lowering, node: Node) -> Tensor:
    source = low.tensor(node.args["self"])
    count = low.count

    def load(at: Sequence[Lin]) -> Expr:
        return source.load(index.unflatten(index.flatten(at, node.dims, count), source.dims, count))

    return Tensor(node.dims, source.dtype, memoized(load))


def permute(low: Lowering, node: Node) -> Tensor:
    source = low.tensor(node.args["self"])
    order = [d % len(node.dims) for d in node.args["dims"]]
    return Tensor(node.dims, source.dtype, lambda at: source.load([at[order.index(d)] for d in range(len(order))]))


def expand(low: Lowering, node: Node) -> Tensor:
    source = low.tensor(node.args["self"])
    return Tensor(node.dims, source.dtype, lambda at: source.load(low.broadcast(at, node.dims, source.dims)))


def broadcast_in_dim(low: Lowering, node: Node) -> Tensor:
    source = low.tensor(node.args["a"])
    places = node.args["broadcast_dimensions"]

    def load(at: Sequence[Lin]) -> Expr:
        return source.load(
            [low.stretched(at[p], node.dims[p], size) for p, size in zip(places, source.dims, strict=True)]
        )

    return Tensor(node.dims, source.dtype, load)


def slice_(low: Lowering, node: Node) -> Tensor:
    source = low.tensor(node.args["self"])
    dim = node.args["dim"] % len(node.dims)
    start = _from_start(low.size(node.args["start"] or 0), source.dims[dim])
    step = low.size(node.args["step"])

    def load(at: Sequence[Lin]) -> Expr:
        moved = index.add(index.scale(at[dim], step), index.const(start, low.count))
        return source.load([*at[:dim], moved, *at[dim + 1 :]])

    return Tensor(node.dims, source.dtype, load)


def _from_start(value: Size, length: Size) -> Size:
    """A position that may count from the end, and may lie beyond it."""
    return tuple(min(v + n if v < 0 else v, n) for v, n in zip(value, length, strict=True))


def select(low: Lowering, node: Node) -> Tensor:
    source = low.tensor(node.args["self"])
    dim = node.args["dim"] % len(source.dims)
    place = index.const(_from_start(low.size(node.args["index"]), source.dims[dim]), low.count)
    return Tensor(node.dims, source.dtype, lambda at: source.load([*at[:dim], place, *at[dim:]]))


def diagonal(low: Lowering, node: Node) -> Tensor:
    source = low.tensor(node.args["self"])
    rank = len(source.dims)
    first, second = node.args["dim1"] % rank, node.args["dim2"] % rank
    offset = node.args["offset"]
    if not isinstance(offset, int):
        raise NotLowerable("diagonal", "its offset differs between the cases")

    def load(at: Sequence[Lin]) -> Expr:
        rest = list(at[:-1])
        places = {first: max(-offset, 0), second: max(offset, 0)}
        full = [
            index.add(at[-1], index.const(places[d], low.count)) if d in places else rest.pop(0) for d in range(rank)
        ]
        return source.load(full)

    return Tensor(node.dims, source.dtype, load)


def flip(low: Lowering, node: Node) -> Tensor:
    source = low.tensor(node.args["self"])
    flipped = low.dims_of(node.args["dims"], len(node.dims))

    def turned(at: Lin, dim: Size) -> Lin:
        minus = sizes.constant(-1, low.count)
        return index.add(index.const(tuple(d - 1 for d in dim), low.count), index.scale(at, minus))

    return Tensor(
        node.dims,
        source.dtype,
        lambda at: source.load([turned(i, node.dims[d]) if d in flipped else i for d, i in enumerate(at)]),
    )


def cat(low: Lowering, node: Node) -> Tensor:
    parts = [low.tensor(ref) for ref in node.args["tensors"]]
    dim = node.args["dim"] % len(node.dims)
    dtype = low.dtype(node)

    def load(at: Sequence[Lin]) -> Expr:
        starts = [sizes.constant(0, low.count)]
        for part in parts[:-1]:
            starts.append(sizes.add(starts[-1], part.dims[dim]))
        result: Expr | None = None
        for part, start in reversed(list(zip(parts, starts, strict=True))):
            moved = index.add(at[dim], index.const(tuple(-s for s in start), low.count))
            value = expr.cast(part.load([*at[:dim], moved, *at[dim + 1 :]]), dtype)
            if result is None:
                result = value
                continue
            end = expr.from_index(index.const(sizes.add(start, part.dims[dim]), low.count))
            result = expr.guard(expr.compare("lt", expr.from_index(at[dim]), end), value, result)
        assert result is not None
        return result

    return Tensor(node.dims, dtype, memoized(load))


def pad(low: Lowering, node: Node) -> Tensor:
    source = low.tensor(node.args["self"])
    amounts = [low.size(amount) for amount in node.args["pad"]]
    before = [
        amounts[2 * (len(node.dims) - 1 - d)] if 2 * (len(node.dims) - 1 - d) < len(amounts) else None
        for d in range(len(node.dims))
    ]

    def load(at: Sequence[Lin]) -> Expr:
        moved = [
            i if b is None else index.add(i, index.const(tuple(-x for x in b), low.count))
            for i, b in zip(at, before, strict=True)
        ]
        checks = [(i, d) for i, d, b in zip(moved, source.dims, before, strict=True) if b is not None]
        return expr.guard(inside(checks), source.load(moved), expr.number(node.args["value"], source.dtype))

    return Tensor(node.dims, source.dtype, memoized(load))


def inside(checks: Sequence[tuple[Lin, Size]]) -> Expr:
    """True where each index lies in [0, size)."""
    conditions = []
    for at, size in checks:
        count = len(size)
        if any(b < 0 for b in at.bounds[0]):
            conditions.append(expr.compare("ge", expr.from_index(at), expr.from_index(index.const(0, count))))
        if any(b >= s for b, s in zip(at.bounds[1], size, strict=True)):
            conditions.append(expr.compare("lt", expr.from_index(at), expr.from_index(index.const(size, count))))
    result = expr.number(True, "bool")
    for condition in conditions:
        result = condition if result.kind == "number" else expr.call("logical_and", result, condition, dtype="bool")
    return result


def constant(low: Lowering, node: Node) -> Tensor:
    key = next((k for k in ("fill_value", "s") if k in node.args), None)
    value = node.args[key] if key else float(node.op == "ones")
    if isinstance(value, Ref):
        raise NotLowerable(node.op, "its value is a tensor")
    dtype = low.dtype(node)
    number = expr.number(value.values if isinstance(value, Varying) else value, dtype)
    return Tensor(node.dims, dtype, lambda _at: number)


def arange(low: Lowering, node: Node) -> Tensor:
    start, step = node.args.get("start", 0), node.args.get("step", 1)
    if isinstance(start, float) or isinstance(step, float):
        raise NotLowerable("arange", "its start or step is not an integer")
    dtype = low.dtype(node)

    def load(at: Sequence[Lin]) -> Expr:
        value = index.add(index.scale(at[0], low.size(step)), index.const(low.size(start), low.count))
        return expr.cast(expr.from_index(value), dtype)

    return Tensor(node.dims, dtype, load)


def _indirect(value: Expr, size: Size, count: int, *, wrap: bool) -> Lin:
    """An index from memory; negative ones count from the end where torch lets them."""
    if wrap:
        length = expr.from_index(index.const(size, count))
        zero = expr.number(0, "int64")
        wide = expr.cast(value, "int64")
        value = expr.where(expr.compare("lt", wide, zero), expr.call("add", wide, length), wide, "int64")
    if sizes.is_one(size):
        return index.const(0, count)
    return index.Lin(((index.Indirect(value, size), sizes.constant(1, count)),), sizes.constant(0, count))


def gather(low: Lowering, node: Node) -> Tensor:
    source, places = low.tensor(node.args["self"]), low.tensor(node.args["index"])
    if not source.dims:
        raise NotLowerable("gather", "of a scalar")
    dim = node.args["dim"] % len(source.dims)

    def load(at: Sequence[Lin]) -> Expr:
        picked = _indirect(places.load(at), source.dims[dim], low.count, wrap=False)
        return source.load([*at[:dim], picked, *at[dim + 1 :]])

    return Tensor(node.dims, source.dtype, memoized(load))


def embedding(low: Lowering, node: Node) -> Tensor:
    table, tokens = low.tensor(node.args["weight"]), low.tensor(node.args["indices"])

    def load(at: Sequence[Lin]) -> Expr:
        return table.load([_indirect(tokens.load(at[:-1]), table.dims[0], low.count, wrap=False), at[-1]])

    return Tensor(node.dims, table.dtype, memoized(load))


def index_(low: Lowering, node: Node) -> Tensor:
    """Indexing with tensors of integers that stand next to one another."""
    source = low.tensor(node.args["self"])
    given: list[Any] = node.args["indices"]
    at_dims = [d for d, ref in enumerate(given) if isinstance(ref, Ref)]
    if at_dims != list(range(at_dims[0], at_dims[0] + len(at_dims))):
        raise NotLowerable("index", "the indexed dimensions do not stand next to one another")
    indices = [low.tensor(given[d]) for d in at_dims]
    if any(tensor.dtype == "bool" for tensor in indices):
        raise NotLowerable("index", "a mask makes the output's size depend on values")
    first, rank = at_dims[0], max(len(tensor.dims) for tensor in indices)

    def load(at: Sequence[Lin]) -> Expr:
        inner = at[first : first + rank]
        dims = node.dims[first : first + rank]
        picked = [
            _indirect(t.load(low.broadcast(inner, dims, t.dims)), source.dims[d], low.count, wrap=True)
            for d, t in zip(at_dims, indices, strict=True)
        ]
        return source.load([*at[:first], *picked, *at[first + rank :]])

    return Tensor(node.dims, source.dtype, memoized(load))


RULES: dict[str, Rule] = {
    "reshape": reshape,
    "permute": permute,
    "expand": expand,
    "broadcast_in_dim": broadcast_in_dim,
    "slice": slice_,
    "select": select,
    "diagonal": diagonal,
    "flip": flip,
    "cat": cat,
    "constant_pad_nd": pad,
    "arange": arange,
    "gather": gather,
    "embedding": embedding,
    "index": index_,
    **dict.fromkeys(CONSTANTS, constant),
}
