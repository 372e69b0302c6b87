"""Ways to write one program, from naive to tiled, and the choice of the next one from what earlier attempts showed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Protocol, TypeVar

from kernelvault.v1 import compiler_pb2, generator_pb2


@dataclasses.dataclass(frozen=True)
class Schedule:
    """How the kernels of a program are laid out.

    `cures` names the bounds (`launch`, `memory`, `compute`, `lds`, `latency`) that it is meant for.
    """

    name: str
    idea: str
    cures: tuple[str, ...] = ()
    # Definitions share kernels where they can.
    fuse: bool = True
    # A row is folded by one thread, or by a block.
    block_rows: bool = True
    # Long reductions to few results are folded in two steps.
    split: bool = False
    # Outputs a thread of a product of matrices: 0 without tiles in LDS, else its square from tiles of 16 x it.
    product_tile: int = 1
    # Neighbouring elements a thread of an elementwise kernel.
    vector: int = 1
    threads: int = 256
    # Indices of 64 bits.
    wide_index: bool = False


LADDER = (
    Schedule(
        "naive",
        "One kernel for each operator that needs memory, one thread for each result.",
        fuse=False,
        block_rows=False,
        product_tile=0,
        wide_index=True,
    ),
    Schedule(
        "fused",
        "Elementwise work joins the kernel that makes its operands; 32-bit indices.",
        cures=("launch",),
        block_rows=False,
        product_tile=0,
    ),
    Schedule(
        "blocks",
        "A block folds a row through LDS, long rows in two steps; products go through 16 x 16 tiles in LDS.",
        cures=("latency",),
        split=True,
    ),
    Schedule(
        "vectors",
        "As before with four elements a thread, and 32 x 32 tiles with 2 x 2 results in registers.",
        cures=("memory", "compute", "lds"),
        split=True,
        product_tile=2,
        vector=4,
    ),
    Schedule(
        "wide",
        "As before with blocks of 512 threads, and 64 x 64 tiles with 4 x 4 results in registers.",
        cures=("latency", "compute"),
        split=True,
        product_tile=4,
        vector=4,
        threads=512,
    ),
)


class Rung(Protocol):
    """What a ladder is made of: a way to write a program, and the bounds that it is meant for."""

    @property
    def cures(self) -> tuple[str, ...]:
        """`launch`, `memory`, `compute`, `lds`, `latency`."""
        ...


RungT = TypeVar("RungT", bound=Rung)


def order(attempts: Sequence[generator_pb2.Attempt], ladder: Sequence[RungT]) -> list[RungT]:
    """The schedules to try, best first, given earlier attempts; the caller skips those whose source was tried.

    Without attempts the ladder is climbed from its foot. After a pass, schedules that cure what bounds the slowest
    kernel come first; after a failure, the ladder's order is kept, for the simpler ones are the safer ones.
    """
    bound = _bound(attempts)
    if bound is None:
        return list(ladder)
    return sorted(ladder, key=lambda schedule: bound not in schedule.cures)


def _bound(attempts: Sequence[generator_pb2.Attempt]) -> str | None:
    """What bounds the slowest kernel of the newest attempt that passed and was profiled."""
    for attempt in reversed(attempts):
        if attempt.report.verdict != compiler_pb2.VerificationReport.PASSED or not attempt.HasField("profile"):
            continue
        kernels = [kernel for case in attempt.profile.cases for kernel in case.kernels]
        if kernels:
            return str(max(kernels, key=lambda kernel: kernel.time_ns).bound)
    return None
