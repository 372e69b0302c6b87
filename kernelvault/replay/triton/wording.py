"""Findings of an interpreted replay in words, with the names that the plan has for kernels and buffers."""

from __future__ import annotations

from typing import cast

from kernelvault.replay.triton.report import ACCESSES, Kind, RawFinding, Report
from kernelvault.v1 import compiler_pb2, plan_pb2, triton_pb2

_PARTICIPLES = {"reads": "read", "writes": "wrote", "changes": "changed with an atomic"}


class Wording:
    """Says what a report means; places that are not in the program's files are left out.

    Without a program, which a script has not, all places are told.
    """

    def __init__(self, plan: plan_pb2.LaunchPlan, program: triton_pb2.TritonProgram | None) -> None:
        self._plan = plan
        self._lines: dict[str, set[int]] | None = None
        if program is None:
            return
        self._lines = {}
        for function in program.functions:
            last = function.line + function.source.count("\n")
            self._lines.setdefault(function.file, set()).update(range(function.line, last + 1))

    def place(self, file: str, line: int) -> str:
        """`file:line`, or nothing."""
        known = bool(file) if self._lines is None else line in self._lines.get(file, ())
        return f"{file}:{line}" if known else ""

    def place_of(self, report: Report) -> str:
        """Where a kernel ended early, as the beginning of a sentence."""
        place = self.place(report.file, report.line)
        return f"{place}: " if place else ""

    def describe(self, raw: RawFinding) -> compiler_pb2.Finding:
        """The finding."""
        launch = self._launch(raw.operation)
        finding = compiler_pb2.Finding(
            kind=cast("compiler_pb2.Finding.Kind", raw.kind),
            message=self._message(raw, launch),
            case_id=self._plan.case_id,
            location=self.place(raw.file, raw.line),
        )
        if all(0 <= side < 1 << 32 for side in raw.program):
            finding.block.x, finding.block.y, finding.block.z = raw.program
        if launch is not None:
            kernel = self._plan.kernels[launch.kernel]
            finding.kernel = kernel.display_name or kernel.name
        if 0 <= raw.buffer < len(self._plan.buffers):
            finding.buffer = self._name(raw.buffer)
        return finding

    def _launch(self, operation: int) -> plan_pb2.Launch | None:
        if not 0 <= operation < len(self._plan.operations):
            return None
        found = self._plan.operations[operation]
        return found.launch if found.WhichOneof("operation") == "launch" else None

    def _message(self, raw: RawFinding, launch: plan_pb2.Launch | None) -> str:
        access, who = ACCESSES[raw.access], f"program {_shown(raw.program)}"
        what, element = self._object(raw), raw.offset // raw.width
        match raw.kind:
            case Kind.OUT_OF_BOUNDS:
                return f"{who} {access} out of bounds: {raw.count} of {raw.lanes} lanes, {self._distance(raw)}"
            case Kind.HOST_POINTER:
                return f"{who} {access} at an address that is no device memory: {raw.count} of {raw.lanes} lanes"
            case Kind.MISALIGNED:
                where = f"the first at byte {raw.offset} of {what}"
                return (
                    f"{who} {access} elements of {raw.width} bytes at addresses that are no multiples of it: "
                    f"{raw.count} of {raw.lanes} lanes, {where}"
                )
            case Kind.UNINITIALIZED_READ:
                lanes = f"{raw.count} of {raw.lanes} lanes"
                return f"{who} {access} what nobody has written: {lanes}, the first element {element} of {what}"
            case _:
                return self._race(raw, launch)

    def _race(self, raw: RawFinding, launch: plan_pb2.Launch | None) -> str:
        access, who = ACCESSES[raw.access], f"program {_shown(raw.program)}"
        where = f"element {raw.offset // raw.width} of {self._object(raw)}"
        if raw.other < 0:
            return f"lanes of one store of {who} write different values to {where}"
        other = f"program {_shown(_place(raw.other, launch))}"
        return (
            f"{who} {access} {where} that {other} {_PARTICIPLES[ACCESSES[raw.other_access]]} in the same launch, "
            f"with nothing to order them ({raw.count} elements)"
        )

    def _distance(self, raw: RawFinding) -> str:
        """How far an element lies beyond its buffer."""
        what = self._object(raw)
        size = self._plan.buffers[raw.buffer].size_bytes if 0 <= raw.buffer < len(self._plan.buffers) else 0
        count = size // raw.width
        if raw.offset < 0:
            before = -(raw.offset // raw.width)
            return f"the first {_elements(before)} before the start of {what}"
        beyond = (raw.offset - size) // raw.width + 1
        return f"the first {_elements(max(1, beyond))} past the end of {what} ({_elements(count)})"

    def _object(self, raw: RawFinding) -> str:
        if not 0 <= raw.buffer < len(self._plan.buffers):
            return "device memory"
        role = self._plan.buffers[raw.buffer].role
        kind = f"{plan_pb2.Buffer.Role.Name(role).lower()} buffer" if role else "tensor"
        return f"the {kind} '{self._name(raw.buffer)}'"

    def _name(self, index: int) -> str:
        buffer = self._plan.buffers[index]
        return buffer.name or f"{plan_pb2.Buffer.Role.Name(buffer.role).lower()} {buffer.position}"


def _elements(count: int) -> str:
    return "1 element" if count == 1 else f"{count} elements"


def _shown(program: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, program))})"


def _place(number: int, launch: plan_pb2.Launch | None) -> tuple[int, int, int]:
    if launch is None:
        return number, 0, 0
    x, y = max(1, launch.grid.x), max(1, launch.grid.y)
    return number % x, number // x % y, number // (x * y)
