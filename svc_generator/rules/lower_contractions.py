"""Products of matrices and convolutions."""

from __future__ import annotations

from svc_generator.rules import expr, index, sizes
from svc_generator.rules.expr import Expr, call, number
from svc_generator.rules.graph import Node, NotLowerable, Ref, Size
from svc_generator.rules.index import Lin
from svc_generator.rules.lower_reductions import pair, slide
from svc_generator.rules.lower_views import inside
from svc_generator.rules.lowering import Lowering, Rule
from svc_generator.rules.program import Operands, Reduce, Tensor

_CHEAP = {"load", "number", "index", "cast", "mul", "where", "lt", "ge", "logical_and", "guard"}
_MAX_LOADS = 2


def operand(low: Lowering, value: Tensor) -> Tensor:
    """A factor as it is loaded again and again: one that costs more than a load or two is written to memory first."""
    parts = expr.walk([low.program.at(value, index.var("i", low.program.numel(value.dims)))])
    loads = sum(part.kind == "load" for part in parts)
    if loads <= _MAX_LOADS and all(part.kind in _CHEAP for part in parts):
        return value
    return low.program.realized(value)


def _product(low: Lowering, left: Tensor, right: Tensor, node: Node) -> Tensor:
    """Of tensors [batch, m, k] and [batch, k, n]."""
    left, right = operand(low, left), operand(low, right)
    batch, m, k = left.dims
    n = right.dims[2]
    program, dtype, count = low.program, low.dtype(node), low.count
    work = expr.working(dtype)
    target = program.scratch(node.dims, dtype)

    def left_at(b: Lin, i: Lin, j: Lin) -> Expr:
        return expr.cast(left.load((b, i, j)), work)

    def right_at(b: Lin, i: Lin, j: Lin) -> Expr:
        return expr.cast(right.load((b, i, j)), work)

    def body(o: Lin, r: Lin) -> Expr:
        b, i, j = index.unflatten(o, (batch, m, n), count)
        return call("mul", left_at(b, i, r), right_at(b, r, j), dtype=work)

    operands = Operands(batch, m, n, left_at, right_at)
    program.definitions.append(Reduce(target, program.numel((batch, m, n)), k, "sum", body, None, operands))
    return program.of(target)


def _batched(low: Lowering, value: Tensor) -> Tensor:
    one: Size = sizes.constant(1, low.count)
    return Tensor((one, *value.dims), value.dtype, lambda at: value.load(at[1:]))


def mm(low: Lowering, node: Node) -> Tensor:
    return _product(
        low, _batched(low, low.tensor(node.args["self"])), _batched(low, low.tensor(node.args["mat2"])), node
    )


def bmm(low: Lowering, node: Node) -> Tensor:
    return _product(low, low.tensor(node.args["self"]), low.tensor(node.args["mat2"]), node)


def convolution(low: Lowering, node: Node) -> Tensor:
    """Direct: each output sums over the input channels of its group and the filter's window."""
    args = node.args
    if args["transposed"] or len(node.dims) != 4:
        raise NotLowerable("convolution", "transposed, or not two-dimensional")
    source, weight = operand(low, low.tensor(args["input"])), operand(low, low.tensor(args["weight"]))
    stride, padding = pair(args["stride"], [1, 1]), pair(args["padding"], [0, 0])
    dilation = pair(args["dilation"], [1, 1])
    count, program, dtype = low.count, low.program, low.dtype(node)
    work = expr.working(dtype)
    inner = weight.dims[1:]
    per_group = sizes.quotient(weight.dims[0], low.size(args["groups"]))
    target = program.scratch(node.dims, dtype)

    def body(o: Lin, r: Lin) -> Expr:
        b, f, *at = index.unflatten(o, node.dims, count)
        c, *step = index.unflatten(r, inner, count)
        moved = [slide(at[x], step[x], stride[x], dilation[x], padding[x]) for x in (0, 1)]
        channel = index.add(index.scale(index.div(f, per_group), inner[0]), c)
        pixel, factor = source.load((b, channel, *moved)), weight.load((f, c, *step))
        product = call("mul", pixel, factor, dtype=work)
        return expr.guard(inside(list(zip(moved, source.dims[2:], strict=True))), product, number(0.0, work))

    program.definitions.append(Reduce(target, program.numel(node.dims), program.numel(inner), "sum", body, None))
    result = program.of(target)
    if not isinstance(args["bias"], Ref):
        return result
    bias = low.tensor(args["bias"])
    return Tensor(node.dims, dtype, lambda at: call("add", result.load(at), bias.load((at[1],)), dtype=work))


RULES: dict[str, Rule] = {"mm": mm, "bmm": bmm, "convolution": convolution}
