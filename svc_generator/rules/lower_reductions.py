"""Reductions, running sums and windows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from svc_generator.rules import expr, index, sizes
from svc_generator.rules.expr import Expr, call, number
from svc_generator.rules.graph import FLOATS, Node, NotLowerable, Size
from svc_generator.rules.index import Lin
from svc_generator.rules.lower_views import inside
from svc_generator.rules.lowering import Lowering, Rule
from svc_generator.rules.program import Reduce, Scan, Tensor

_IDENTITY: dict[str, Any] = {"sum": 0, "max": float("-inf")}


def reduced(low: Lowering, source: Tensor, dims: Sequence[int], kind: str, dtype: str, *, stored: str = "") -> Tensor:
    """The reduction over `dims`, which stay as dimensions of size 1. `stored` is the dtype in memory."""
    program, count = low.program, low.count
    kept = [d for d in range(len(source.dims)) if d not in dims]
    outer, inner = [source.dims[d] for d in kept], [source.dims[d] for d in dims]
    one = sizes.constant(1, count)
    target = program.scratch([one if d in dims else size for d, size in enumerate(source.dims)], stored or dtype)

    def places(o: Lin, r: Lin) -> list[Lin]:
        split = dict(zip(kept, index.unflatten(o, outer, count), strict=True))
        split.update(zip(dims, index.unflatten(r, inner, count), strict=True))
        return [split[d] for d in range(len(source.dims))]

    work = "float32" if kind in ("argmax", "argmin") and source.dtype == "bool" else dtype
    program.definitions.append(
        Reduce(
            target,
            program.numel(outer),
            program.numel(inner),
            kind,
            lambda o, r: (
                source.load(places(o, r)) if kind.startswith("arg") else expr.cast(source.load(places(o, r)), work)
            ),
            lambda o, r: index.flatten(places(o, r), source.dims, count),
        )
    )
    return Tensor(target.dims, dtype, program.of(target).load)


def _squeezed(low: Lowering, value: Tensor, dims: tuple[Size, ...]) -> Tensor:
    """The reduced dimensions are dropped, or stay, as the operator wants."""
    return Tensor(
        dims,
        value.dtype,
        lambda at: value.load(index.unflatten(index.flatten(at, dims, low.count), value.dims, low.count)),
    )


def _dims(low: Lowering, node: Node, rank: int) -> list[int]:
    given = node.args.get("dim", node.args.get("dims"))
    return low.dims_of(given, rank) if rank else []


def _source(low: Lowering, node: Node) -> Tensor:
    return low.tensor(node.args["self" if "self" in node.args else "inp" if "inp" in node.args else "a"])


def _plain(kind: str) -> Rule:
    def rule(low: Lowering, node: Node) -> Tensor:
        source = _source(low, node)
        result = reduced(low, source, _dims(low, node, len(source.dims)), kind, low.dtype(node))
        return _squeezed(low, result, node.dims)

    return rule


def mean(low: Lowering, node: Node) -> Tensor:
    source = _source(low, node)
    dtype = low.dtype(node)
    return _squeezed(low, _mean(low, source, _dims(low, node, len(source.dims)), dtype), node.dims)


def _mean(low: Lowering, source: Tensor, dims: Sequence[int], dtype: str) -> Tensor:
    total = reduced(low, source, dims, "sum", dtype, stored=expr.working(dtype))
    length = low.program.numel([source.dims[d] for d in dims])
    divisor = number(tuple(float(n) for n in length), dtype)
    return Tensor(total.dims, dtype, lambda at: call("div", total.load(at), divisor, dtype=expr.working(dtype)))


def var(low: Lowering, node: Node) -> Tensor:
    """In two passes: the mean, then the sum of squares of the distances from it."""
    source = _source(low, node)
    dims, dtype = _dims(low, node, len(source.dims)), low.dtype(node)
    work = expr.working(dtype)
    center = _mean(low, source, dims, work)

    def squares(at: Sequence[Lin]) -> Expr:
        away = call("sub", source.load(at), center.load(low.broadcast(at, source.dims, center.dims)), dtype=work)
        return call("mul", away, away, dtype=work)

    total = reduced(low, Tensor(source.dims, work, squares), dims, "sum", dtype, stored=work)
    correction = node.args.get("correction")
    less = low.size(1 if correction is None else int(correction))
    length = low.program.numel([source.dims[d] for d in dims])
    divisor = number(tuple(float(max(n - c, 0)) for n, c in zip(length, less, strict=True)), dtype)
    result = Tensor(total.dims, dtype, lambda at: call("div", total.load(at), divisor, dtype=work))
    return _squeezed(low, result, node.dims)


def arg(kind: str) -> Rule:
    def rule(low: Lowering, node: Node) -> Tensor:
        source = low.tensor(node.args["self"])
        dim = node.args["dim"]
        if dim is None:
            flat = (low.program.numel(source.dims),)
            source = _squeezed(low, source, flat)
        dims = [0] if dim is None else low.dims_of(dim, len(source.dims))
        return _squeezed(low, reduced(low, source, dims, kind, "int64"), node.dims)

    return rule


def cumsum(low: Lowering, node: Node) -> Tensor:
    source, dtype = low.tensor(node.args["self"]), low.dtype(node)
    dim, program, count = node.args["dim"] % max(len(node.dims), 1), low.program, low.count
    if not node.dims:
        return source
    rest = [size for d, size in enumerate(source.dims) if d != dim]
    target = program.scratch(source.dims, dtype)

    def places(o: Lin, i: Lin) -> list[Lin]:
        split = index.unflatten(o, rest, count)
        return [*split[:dim], i, *split[dim:]]

    program.definitions.append(
        Scan(
            target,
            program.numel(rest),
            source.dims[dim],
            lambda o, i: expr.cast(source.load(places(o, i)), dtype),
            lambda o, i: index.flatten(places(o, i), source.dims, count),
        )
    )
    return program.of(target)


@dataclasses.dataclass(frozen=True)
class Window:
    """Of the last two dimensions."""

    kernel: list[int]
    stride: list[int]
    padding: list[int]
    dilation: list[int]


def window(low: Lowering, source: Tensor, node: Node, kind: str, shape: Window) -> Tensor:
    """A reduction of the windows of the last two dimensions."""
    count, program, dtype = low.count, low.program, low.dtype(node)
    lead = len(node.dims) - 2
    inner = [sizes.constant(k, count) for k in shape.kernel]
    target = program.scratch(node.dims, dtype)

    def body(o: Lin, r: Lin) -> Expr:
        at, step = index.unflatten(o, node.dims, count), index.unflatten(r, inner, count)
        moved = [
            slide(at[lead + axis], step[axis], shape.stride[axis], shape.dilation[axis], shape.padding[axis])
            for axis in (0, 1)
        ]
        value = source.load([*at[:lead], *moved])
        checks = list(zip(moved, source.dims[lead:], strict=True))
        return expr.guard(inside(checks), expr.cast(value, dtype), number(_IDENTITY[kind], dtype))

    program.definitions.append(Reduce(target, program.numel(node.dims), program.numel(inner), kind, body, None))
    return program.of(target)


def slide(at: Lin, step: Lin, stride: int, dilation: int, padding: int) -> Lin:
    """The place in the input that an output's window touches: at * stride + step * dilation - padding."""
    count = len(at.const)
    return index.add(
        index.scale(at, sizes.constant(stride, count)),
        index.scale(step, sizes.constant(dilation, count)),
        index.const(-padding, count),
    )


def pair(value: Any, default: list[int]) -> list[int]:
    """Two plain integers from an argument of one, two or none."""
    items = [value] if isinstance(value, int) else list(value) if value else default
    items = items * 2 if len(items) == 1 else items
    if len(items) != 2 or not all(type(i) is int for i in items):
        raise NotLowerable("a window", "its sizes differ between the cases, or it is not two-dimensional")
    return items


def max_pool(low: Lowering, node: Node) -> Tensor:
    if node.args["ceil_mode"]:
        raise NotLowerable("max_pool2d", "ceil_mode")
    kernel = pair(node.args["kernel_size"], [])
    shape = Window(
        kernel,
        pair(node.args["stride"], kernel),
        pair(node.args["padding"], [0, 0]),
        pair(node.args["dilation"], [1, 1]),
    )
    return window(low, low.tensor(node.args["self"]), node, "max", shape)


def average_pool(low: Lowering, node: Node) -> Tensor:
    kernel, padding = pair(node.args["kernel_size"], []), pair(node.args["padding"], [0, 0])
    if node.args["ceil_mode"] or (any(padding) and not node.args["count_include_pad"]):
        raise NotLowerable("avg_pool2d", "ceil_mode, or padding that does not count")
    shape = Window(kernel, pair(node.args["stride"], kernel), padding, [1, 1])
    total = window(low, low.tensor(node.args["self"]), node, "sum", shape)
    divisor = number(float(node.args["divisor_override"] or kernel[0] * kernel[1]), total.dtype)
    return Tensor(total.dims, total.dtype, lambda at: call("div", total.load(at), divisor))


def _boolean(kind: str) -> Rule:
    inner: Callable[[Lowering, Node], Tensor] = _plain(kind)

    def rule(low: Lowering, node: Node) -> Tensor:
        if low.dtype(node) in FLOATS:
            raise NotLowerable(node.op, "a floating-point result")
        return inner(low, node)

    return rule


RULES: dict[str, Rule] = {
    "sum": _plain("sum"),
    "amax": _plain("max"),
    "amin": _plain("min"),
    "prod": _plain("prod"),
    "any": _boolean("any"),
    "all": _boolean("all"),
    "mean": mean,
    "var": var,
    "argmax": arg("argmax"),
    "argmin": arg("argmin"),
    "cumsum": cumsum,
    "max_pool2d_with_indices": max_pool,
    "avg_pool2d": average_pool,
}
