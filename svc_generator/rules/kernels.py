"""Kernels as C++: elementwise, rows folded by a thread or a block, running sums."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from svc_generator.rules import expr
from svc_generator.rules.fusion import Group, Item
from svc_generator.rules.graph import Size
from svc_generator.rules.prelude import fold_name
from svc_generator.rules.program import Buffer, Reduce
from svc_generator.rules.render import CPP, STORE, Arguments, Writer, convert
from svc_generator.rules.schedules import Schedule

_LONG_ROW = 256
_SHORT_ROW = 32


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel's C++ and how it is launched: `per_block` of the `work` items a block."""

    name: str
    code: str
    arguments: Arguments
    work: tuple[tuple[Size, int], ...]
    threads: int
    batch: Size | None = None


def wrap(name: str, writer: Writer, threads: int) -> str:
    head = f"__global__ void __launch_bounds__({threads}) {name}({writer.arguments.parameters()}) {{"
    return "\n".join([head, *writer.lines, "}"])


def start(group: Group, stored: Sequence[Item]) -> Writer:
    """A writer for a group's kernel, in which results that are not stored are expressions."""
    writer = Writer(Arguments())
    for item in stored:
        writer.arguments.write(item.target)
    for item in group.items:
        if item.place in ("each", "outer"):
            writer.locals[item.target] = lambda body=item.body: writer.value(body)  # type: ignore[misc]
    return writer


def elementwise(name: str, group: Group, stored: Sequence[Item], schedule: Schedule) -> Kernel:
    """One thread for each element, or for four neighbours where some tensor is read in order."""
    if schedule.vector > 1 and (direct := _read_in_order(group)):
        return _vectors(name, group, stored, schedule, direct)
    writer = start(group, stored)
    count = writer.arguments.size(group.outer)
    writer.line("const index_t o = index_t(blockIdx.x) * blockDim.x + threadIdx.x;")
    writer.line(f"if (o >= {count}) return;")
    for item in stored:
        writer.store(item.target, item.offset, item.body)
    return Kernel(
        name,
        wrap(name, writer, schedule.threads),
        writer.arguments,
        ((group.outer, schedule.threads),),
        schedule.threads,
    )


def _read_in_order(group: Group) -> list[Buffer]:
    """The buffers from other kernels that are loaded at o itself."""
    mine = {item.target for item in group.items}
    bodies = [item.body for item in group.items]
    loads = [p for p in expr.walk(bodies) if p.kind == "load" and p.args[1] == group.o]
    return sorted({p.args[0] for p in loads if p.args[0] not in mine}, key=lambda b: b.name)


def _vectors(name: str, group: Group, stored: Sequence[Item], schedule: Schedule, direct: Sequence[Buffer]) -> Kernel:
    writer = start(group, stored)
    width = schedule.vector
    count = writer.arguments.size(group.outer)
    writer.line(f"const index_t at = (index_t(blockIdx.x) * blockDim.x + threadIdx.x) * {width};")
    with writer.block(f"if (at + {width} <= {count})"):
        _packed(writer, stored, direct, width)
    with writer.block(f"else for (index_t o = at; o < {count}; ++o)"):
        for item in stored:
            writer.store(item.target, item.offset, item.body)
    work = ((group.outer, schedule.threads * width),)
    return Kernel(name, wrap(name, writer, schedule.threads), writer.arguments, work, schedule.threads)


def _packed(writer: Writer, stored: Sequence[Item], direct: Sequence[Buffer], width: int) -> None:
    """Whole packs: loads, the lanes, stores."""
    for buffer in direct:
        kind = f"Pack<{CPP[buffer.dtype]}>"
        writer.line(
            f"const {kind} p_{buffer.name} = *reinterpret_cast<const {kind}*>({writer.arguments.read(buffer)} + at);"
        )
    for item in stored:
        writer.line(f"Pack<{CPP[item.target.dtype]}> p_{item.target.name};")
    writer.line("#pragma unroll")
    with writer.block(f"for (int lane = 0; lane < {width}; ++lane)"):
        writer.line("const index_t o = at + lane;")
        writer.packs = {buffer: f"p_{buffer.name}.lane[lane]" for buffer in direct}
        for item in stored:
            dtype = item.target.dtype
            code = convert(writer.value(item.body), item.body.dtype, expr.working(dtype))
            writer.line(f"p_{item.target.name}.lane[lane] = {STORE.get(dtype, '{}').format(code)};")
        writer.packs = {}
    for item in stored:
        kind = f"Pack<{CPP[item.target.dtype]}>"
        writer.line(f"*reinterpret_cast<{kind}*>({item.target.name} + at) = p_{item.target.name};")


def by_block(group: Group, schedule: Schedule) -> bool:
    """True if a block should fold a row: rows are long, and their elements lie next to one another."""
    assert group.inner is not None
    if not schedule.block_rows or max(group.inner) <= _SHORT_ROW:
        return False
    if group.is_scan:
        return True
    if any(isinstance(i.definition, Reduce) and i.definition.flat is None for i in group.reductions):
        return False
    one = (1,) * len(group.outer)
    loads = [p for p in expr.walk([i.body for i in group.reductions]) if p.kind == "load"]
    steps = [dict(p.args[1].terms) for p in loads]
    rows = any(any(getattr(a, "name", "") == "r" and c == one for a, c in step.items()) for step in steps)
    return rows or max(group.outer) < 4096


def rows(name: str, group: Group, stored: Sequence[Item], schedule: Schedule) -> Kernel:
    """Reductions over r for each o, then what is made of them."""
    block = by_block(group, schedule)
    writer = start(group, stored)
    outer = writer.arguments.size(group.outer)
    if block:
        for kind in sorted({_accumulator(i, group, block=True) for i in group.reductions}):
            writer.line(f"__shared__ {kind} shared_{_plain(kind)}[{schedule.threads}];")
        with writer.block(f"for (index_t o = blockIdx.x; o < {outer}; o += gridDim.x)"):
            _row(writer, group, stored, block=True)
    else:
        writer.line("const index_t o = index_t(blockIdx.x) * blockDim.x + threadIdx.x;")
        writer.line(f"if (o >= {outer}) return;")
        _row(writer, group, stored, block=False)
    work = ((group.outer, 1 if block else schedule.threads),)
    return Kernel(name, wrap(name, writer, schedule.threads), writer.arguments, work, schedule.threads)


def _plain(kind: str) -> str:
    return kind.replace("<", "_").replace(">", "")


def _loop(writer: Writer, group: Group, *, block: bool) -> str:
    assert group.inner is not None
    inner = writer.arguments.size(group.inner)
    if block:
        return f"for (index_t r = threadIdx.x; r < {inner}; r += blockDim.x)"
    return f"for (index_t r = 0; r < {inner}; ++r)"


def _row(writer: Writer, group: Group, stored: Sequence[Item], *, block: bool) -> None:
    levels = _levels(group)
    for level in range(max(levels.values(), default=-1) + 1):
        now = [item for item in group.reductions if levels[item.target] == level]
        for item in now:
            kind, fold = _accumulator(item, group, block=block), _fold(item)
            writer.line(f"{kind} a_{item.target.name} = {fold}::start<{kind}>();")
        with writer.block(_loop(writer, group, block=block)):
            for item in now:
                _accumulate(writer, item, _accumulator(item, group, block=block))
        for item in now:
            _finish(writer, item, _accumulator(item, group, block=block), block=block)
    _store_row(writer, group, stored, block=block)


def _accumulate(writer: Writer, item: Item, kind: str) -> None:
    value, name = writer.value(item.body), f"a_{item.target.name}"
    given = f"{kind}{{{value}, int64_t(r)}}" if kind.startswith("Best") else f"{kind}({value})"
    writer.line(f"{name} = {_fold(item)}::join({name}, {given});")


def _finish(writer: Writer, item: Item, kind: str, *, block: bool) -> None:
    """Folds over the block, and lets later expressions use the result."""
    name, result = f"a_{item.target.name}", f"r_{item.target.name}"
    if block:
        writer.line(f"{name} = across_block<{_fold(item)}>({name}, shared_{_plain(kind)});")
    dtype = expr.working(item.target.dtype)
    if kind.startswith("Best"):
        code = f"{name}.at"
    elif dtype == "bool":
        code = f"{name} != 0"
    else:
        code = name if kind == CPP[dtype] else f"{CPP[dtype]}({name})"
    writer.line(f"const {CPP[dtype]} {result} = {code};")
    writer.locals[item.target] = lambda: result


def _store_row(writer: Writer, group: Group, stored: Sequence[Item], *, block: bool) -> None:
    once = [item for item in stored if item.place in ("reduce", "outer")]
    each = [item for item in stored if item.place == "each"]
    if once:
        with writer.block("if (threadIdx.x == 0)" if block else ""):
            for item in once:
                body = expr.load(item.target, item.offset) if item.place == "reduce" else item.body
                writer.store(item.target, item.offset, body)
    if each:
        with writer.block(_loop(writer, group, block=block)):
            for item in each:
                writer.store(item.target, item.offset, item.body)


def _fold(item: Item) -> str:
    assert isinstance(item.definition, Reduce)
    return fold_name(item.definition.kind)


def _accumulator(item: Item, group: Group, *, block: bool) -> str:
    """The C++ type that a reduction accumulates in: double where one thread adds up many floats."""
    assert isinstance(item.definition, Reduce) and group.inner is not None
    if item.definition.kind in ("argmax", "argmin"):
        return f"Best<{CPP[item.body.dtype]}>"
    if item.definition.kind in ("any", "all"):
        return "int"
    kind = CPP[expr.working(item.target.dtype)]
    plain_sum = item.definition.kind == "sum" and item.definition.flat is not None
    return "double" if kind == "float" and plain_sum and not block and max(group.inner) > _LONG_ROW else kind


def _levels(group: Group) -> dict[Buffer, int]:
    """Reductions of one level need none of each other; they share a loop."""
    levels: dict[Buffer, int] = {}
    inline = {item.target: item.body for item in group.items if item.place != "reduce"}
    for item in group.reductions:
        needs = [0]
        stack, seen = [item.body], set()
        while stack:
            for part in expr.walk([stack.pop()]):
                if part.kind == "load" and part.args[0] in levels:
                    needs.append(levels[part.args[0]] + 1)
                elif part.kind == "load" and part.args[0] in inline and part.args[0] not in seen:
                    seen.add(part.args[0])
                    stack.append(inline[part.args[0]])
        levels[item.target] = max(needs)
    return levels
