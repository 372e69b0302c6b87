"""From a graph and a schedule to the source of a candidate."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from svc_generator.rules import expr, prelude, sizes
from svc_generator.rules import launcher as host
from svc_generator.rules.fusion import Group, Item, fuse, stored
from svc_generator.rules.graph import Graph
from svc_generator.rules.kernels import Kernel, elementwise, rows
from svc_generator.rules.launcher import Launcher
from svc_generator.rules.lower import lower
from svc_generator.rules.products import product
from svc_generator.rules.scans import scan
from svc_generator.rules.schedules import Schedule
from svc_generator.rules.split import split

_MAX_INT32 = (1 << 31) - 1


def emit(graph: Graph, schedule: Schedule, *, torch: bool = False) -> str:
    """One HIP source for all cases: a launcher for each dtype, or a torch extension around them.

    Raises NotLowerable.
    """
    known = host.known_sizes(graph)
    by_dtype: dict[str, list[int]] = {}
    for case in range(graph.case_count):
        by_dtype.setdefault(host.dtype_of_call(graph, case), []).append(case)
    wide = schedule.wide_index or not _fits_int32(graph)
    with expr.fresh():
        launchers = [_launcher(graph, dtype, cases, schedule, known, torch=torch) for dtype, cases in by_dtype.items()]
    kernels = "\n\n".join(kernel.code for launcher in launchers for kernel in launcher.kernels)
    linkage = "static" if torch else 'extern "C"'
    calls = "\n".join(host.abi(launcher, graph, known, linkage=linkage) for launcher in launchers)
    if torch:
        calls += "\n" + host.torch_extension(launchers, graph, known)
    head = "#include <torch/extension.h>\n#include <ATen/hip/HIPContext.h>\n" if torch else ""
    return head + prelude.text(kernels, calls, wide_index=wide) + "\n" + kernels + "\n\n" + calls


def _fits_int32(graph: Graph) -> bool:
    """True if every offset in every case fits an int32, with room for a block that looks beyond the end."""
    largest = max((max(sizes.mul((1,) * graph.case_count, *node.dims)) for node in graph.nodes), default=0)
    return largest < _MAX_INT32 // 2


def _launcher(
    graph: Graph, dtype: str, cases: Sequence[int], schedule: Schedule, known: sizes.Sizes, *, torch: bool
) -> Launcher:
    program = lower(graph, cases)
    if schedule.split:
        program.definitions = split(program, known)
    groups = fuse(program, enabled=schedule.fuse)
    vector = 1 if torch else schedule.vector
    kernels = []
    for number, group in enumerate(groups):
        if kept := stored(groups, group):
            kernels.append(_kernel(f"k{number}_{dtype}", group, kept, schedule, vector))
    return Launcher(dtype, program, kernels)


def _kernel(name: str, group: Group, kept: Sequence[Item], schedule: Schedule, vector: int) -> Kernel:
    if group.inner is None:
        return elementwise(name, group, kept, dataclasses.replace(schedule, vector=vector))
    if group.is_scan:
        return scan(name, group, kept, schedule)
    if schedule.product_tile and group.operands:
        return product(name, group, kept, schedule)
    return rows(name, group, kept, schedule)
