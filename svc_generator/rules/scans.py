"""Kernels of running sums."""

from __future__ import annotations

from collections.abc import Sequence

from svc_generator.rules import expr
from svc_generator.rules.fusion import Group, Item
from svc_generator.rules.kernels import Kernel, by_block, wrap
from svc_generator.rules.render import CPP, STORE, Arguments, Writer
from svc_generator.rules.schedules import Schedule


def scan(name: str, group: Group, stored: Sequence[Item], schedule: Schedule) -> Kernel:
    """Running sums: a thread walks along its row, or a block scans it piece by piece."""
    item = group.items[0]
    block = by_block(group, schedule)
    writer = Writer(Arguments())
    assert group.inner is not None and list(stored) == [item]
    writer.arguments.write(item.target)
    outer, inner = writer.arguments.size(group.outer), writer.arguments.size(group.inner)
    dtype = expr.working(item.target.dtype)
    if block:
        writer.line(f"__shared__ {CPP[dtype]} shared[{schedule.threads}];")
        with writer.block(f"for (index_t o = blockIdx.x; o < {outer}; o += gridDim.x)"):
            _scan_block(writer, item, CPP[dtype], inner)
    else:
        kind = "double" if dtype == "float32" else CPP[dtype]
        writer.line("const index_t o = index_t(blockIdx.x) * blockDim.x + threadIdx.x;")
        writer.line(f"if (o >= {outer}) return;")
        writer.line(f"{kind} total = 0;")
        with writer.block(f"for (index_t r = 0; r < {inner}; ++r)"):
            writer.line(f"total += {writer.value(item.body)};")
            _store_text(writer, item, f"{CPP[dtype]}(total)")
    work = ((group.outer, 1 if block else schedule.threads),)
    return Kernel(name, wrap(name, writer, schedule.threads), writer.arguments, work, schedule.threads)


def _scan_block(writer: Writer, item: Item, kind: str, inner: str) -> None:
    writer.line(f"{kind} carry = 0;")
    with writer.block(f"for (index_t base = 0; base < {inner}; base += blockDim.x)"):
        writer.line("const index_t r = base + threadIdx.x;")
        writer.line(f"{kind} sum = 0;")
        with writer.block(f"if (r < {inner})"):
            writer.line(f"sum = {writer.value(item.body)};")
        writer.line("shared[threadIdx.x] = sum;")
        writer.line("__syncthreads();")
        with writer.block("for (unsigned step = 1; step < blockDim.x; step *= 2)"):
            writer.line(f"const {kind} left = threadIdx.x >= step ? shared[threadIdx.x - step] : {kind}(0);")
            writer.line("__syncthreads();")
            writer.line("shared[threadIdx.x] += left;")
            writer.line("__syncthreads();")
        with writer.block(f"if (r < {inner})"):
            _store_text(writer, item, "carry + shared[threadIdx.x]")
        writer.line("carry += shared[blockDim.x - 1];")
        writer.line("__syncthreads();")


def _store_text(writer: Writer, item: Item, code: str) -> None:
    stored = STORE.get(item.target.dtype, "{}").format(code)
    writer.line(f"{item.target.name}[{writer.index(item.offset)}] = {stored};")
