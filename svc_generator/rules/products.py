"""Products of matrices through tiles in LDS, with what follows them applied to the results in registers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from svc_generator.rules import expr, index
from svc_generator.rules.expr import Expr
from svc_generator.rules.fusion import Group, Item
from svc_generator.rules.index import Lin
from svc_generator.rules.kernels import Kernel, start, wrap
from svc_generator.rules.program import Operands, Pointwise, Reduce
from svc_generator.rules.render import CPP, Writer
from svc_generator.rules.schedules import Schedule

_STEP = 16
_THREADS = 256


def product(name: str, group: Group, stored: Sequence[Item], schedule: Schedule) -> Kernel:
    """16 x 16 threads, each with a square of outputs that lie 16 apart."""
    per = schedule.product_tile
    tile = 16 * per
    group, stored = _over_tiles(group, stored)
    writer = start(group, stored)
    operands = group.operands
    first = operands[0]
    assert group.inner is not None
    sizes = {key: writer.arguments.size(s) for key, s in (("m", first.m), ("n", first.n), ("b", first.batch))}
    inner = writer.arguments.size(group.inner)
    types = [CPP[expr.working(item.target.dtype)] for item in group.reductions]
    for number, kind in enumerate(types):
        writer.line(f"__shared__ {kind} left{number}[{_STEP}][{tile + 1}], right{number}[{_STEP}][{tile + 1}];")
    writer.line("const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;")
    writer.line(f"const index_t across = ({sizes['n']} + {tile - 1}) / {tile};")
    writer.line(
        f"const index_t row = index_t(blockIdx.x) / across * {tile}, column = index_t(blockIdx.x) % across * {tile};"
    )
    with writer.block(f"for (index_t b = blockIdx.y; b < {sizes['b']}; b += gridDim.y)"):
        for number, kind in enumerate(types):
            writer.line(f"{kind} sum{number}[{per}][{per}] = {{}};")
        with writer.block(f"for (index_t base = 0; base < {inner}; base += {_STEP})"):
            with writer.block(f"for (int e = threadIdx.x; e < {_STEP * tile}; e += {_THREADS})"):
                for number in range(len(types)):
                    _load(writer, group, operands[number], f"left{number}", tile)
                    _load(writer, group, operands[number], f"right{number}", tile)
            writer.line("__syncthreads();")
            _multiply(writer, types, per)
            writer.line("__syncthreads();")
        _store(writer, group, stored, per, sizes)
    work = ((first.m, tile), (first.n, tile))
    return Kernel(name, wrap(name, writer, _THREADS), writer.arguments, work, _THREADS, first.batch)


def _over_tiles(group: Group, stored: Sequence[Item]) -> tuple[Group, Sequence[Item]]:
    """The same items over b, m and n in place of o, so that an index such as o % n is a variable again."""
    shape = group.operands[0]
    dims = (shape.batch, shape.m, shape.n)
    at = index.flatten([index.var(*v) for v in zip("bmn", dims, strict=True)], dims, len(shape.m))
    moved = {
        item.target: dataclasses.replace(item, offset=at, body=item.definition.body(at))
        if isinstance(item.definition, Pointwise)
        else dataclasses.replace(item, offset=at)
        for item in group.items
    }
    return dataclasses.replace(group, items=list(moved.values())), [moved[item.target] for item in stored]


def _load(writer: Writer, group: Group, operands: Operands, target: str, tile: int) -> None:
    """One element of a tile for each thread; neighbours in memory go to neighbouring threads."""
    assert group.inner is not None
    left = target.startswith("left")
    size = operands.m if left else operands.n
    b, x, k = index.var("b", operands.batch), index.var("x", size), index.var("k", group.inner)
    value: Expr = operands.left(b, x, k) if left else operands.right(b, k, x)
    limit, inner = writer.arguments.size(size), writer.arguments.size(group.inner)
    with writer.block(""):
        if _steps_with("k", value, writer):
            writer.line(f"const int dk = e % {_STEP}, dx = e / {_STEP};")
        else:
            writer.line(f"const int dx = e % {tile}, dk = e / {tile};")
        writer.line(f"const index_t x = {'row' if left else 'column'} + dx, k = base + dk;")
        writer.line(f"{CPP[value.dtype]} element = 0;")
        with writer.block(f"if (x < {limit} && k < {inner})"):
            writer.line(f"element = {writer.value(value)};")
        writer.line(f"{target}[dk][dx] = element;")


def _steps_with(name: str, value: Expr, writer: Writer) -> bool:
    """True if some load moves by one element with the variable."""
    for part in expr.walk([value]):
        if part.kind == "load" and part.args[0] not in writer.locals:
            at: Lin = part.args[1]
            if any(getattr(a, "name", "") == name and set(c) == {1} for a, c in at.terms):
                return True
    return False


def _multiply(writer: Writer, types: Sequence[str], per: int) -> None:
    writer.line("#pragma unroll")
    with writer.block(f"for (int dk = 0; dk < {_STEP}; ++dk)"):
        for number, kind in enumerate(types):
            writer.line(f"{kind} l{number}[{per}], q{number}[{per}];")
            writer.line(
                f"for (int i = 0; i < {per}; ++i) l{number}[i] = left{number}[dk][ty + 16 * i], "
                f"q{number}[i] = right{number}[dk][tx + 16 * i];"
            )
            writer.line(
                f"for (int i = 0; i < {per}; ++i) for (int j = 0; j < {per}; ++j) "
                f"sum{number}[i][j] += l{number}[i] * q{number}[j];"
            )


def _store(writer: Writer, group: Group, stored: Sequence[Item], per: int, sizes: dict[str, str]) -> None:
    writer.line("#pragma unroll")
    with (
        writer.block(f"for (int i = 0; i < {per}; ++i)"),
        writer.block(f"for (int j = 0; j < {per}; ++j)"),
    ):
        writer.line("const index_t m = row + ty + 16 * i, n = column + tx + 16 * j;")
        writer.line(f"if (m >= {sizes['m']} || n >= {sizes['n']}) continue;")
        for number, item in enumerate(group.reductions):
            writer.locals[item.target] = _name(f"sum{number}[i][j]")
        for item in stored:
            body = expr.load(item.target, item.offset) if isinstance(item.definition, Reduce) else item.body
            writer.store(item.target, item.offset, body)


def _name(code: str) -> Callable[[], str]:
    return lambda: code
