"""Findings as they occur: where the kernel is, and each fault of a line once."""

from __future__ import annotations

from kernelvault.replay.triton.interpreter import faults
from kernelvault.replay.triton.interpreter.formats import Array
from kernelvault.replay.triton.interpreter.launching import Grid, place
from kernelvault.replay.triton.interpreter.memory import Buffer, Lanes
from kernelvault.replay.triton.namespace import author_file
from kernelvault.replay.triton.report import ACCESSES, MAX_FINDINGS, Kind, RawFinding

_CHANGED = {"wrote": "writes", "changed with an atomic": "changes"}


class Recorder:
    """Hears of faults (memory.Judge, races.RaceJudge) and makes findings of them."""

    def __init__(self) -> None:
        self.findings: list[RawFinding] = []
        self._known: set[tuple[object, ...]] = set()
        self._operation = 0
        self._program: Grid = (0, 0, 0)
        self._grid: Grid = (1, 1, 1)

    def begin_launch(self, operation: int, grid: Grid) -> None:
        """Which launch the next faults are of."""
        self._operation, self._grid = operation, grid

    def begin_program(self, number: int) -> None:
        """Which program the next faults are of."""
        self._program = place(number, self._grid)

    def out_of_bounds(self, buffer: Buffer | None, address: Array, lanes: int, width: int, kind: str) -> None:
        """See memory.Judge."""
        found = Kind.HOST_POINTER if buffer is None else Kind.OUT_OF_BOUNDS
        self._record(found, buffer, int(address[0]), width, kind, count=len(address), lanes=lanes)

    def misaligned(self, buffer: Buffer, address: Array, lanes: int, width: int, kind: str) -> None:
        """See memory.Judge."""
        self._record(Kind.MISALIGNED, buffer, int(address[0]), width, kind, count=len(address), lanes=lanes)

    def conflicting_lanes(self, buffer: Buffer, index: Lanes, width: int) -> None:
        """See memory.Judge."""
        address = buffer.base + int(index[0]) * width
        self._record(Kind.RACE, buffer, address, width, "writes", count=len(index), lanes=len(index))

    def race(
        self, buffer: Buffer, element: int, width: int, *, other: int, access: str, before: str, count: int
    ) -> None:
        """See races.RaceJudge."""
        address = buffer.base + element * width
        self._record(
            Kind.RACE, buffer, address, width, access, count=count, lanes=count, other=other, before=_CHANGED[before]
        )

    def uninitialised(self, buffer: Buffer, element: int, width: int, *, count: int, lanes: int) -> None:
        """See races.RaceJudge."""
        address = buffer.base + element * width
        self._record(Kind.UNINITIALIZED_READ, buffer, address, width, "reads", count=count, lanes=lanes)

    def _record(
        self,
        kind: Kind,
        buffer: Buffer | None,
        address: int,
        width: int,
        access: str,
        *,
        count: int,
        lanes: int,
        other: int = -1,
        before: str = "reads",
    ) -> None:
        file, line = faults.line_of_access()
        number = -1 if buffer is None else buffer.number
        key = (self._operation, kind, file, line, number, access)
        if key in self._known or len(self.findings) >= MAX_FINDINGS:
            return
        self._known.add(key)
        self.findings.append(
            RawFinding(
                kind=int(kind),
                operation=self._operation,
                program=self._program,
                file=author_file(file),
                line=line,
                buffer=number,
                access=ACCESSES.index(access),
                count=count,
                lanes=lanes,
                width=width,
                offset=address - (0 if buffer is None else buffer.base),
                other=other,
                other_access=ACCESSES.index(before),
            )
        )
