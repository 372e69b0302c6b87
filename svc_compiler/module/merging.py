"""What Python captured and what the recorder wrote down of the extensions' calls, as one sequence of operations."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from kernelvault.v1 import kernel_pb2, plan_pb2
from svc_compiler.hip.recording_events import Trace as NativeTrace
from svc_compiler.hip.recording_plan import Assembler
from svc_compiler.recording import verdicts
from svc_compiler.recording.buffers import renumbered
from svc_compiler.recording.calls import Assembled, Buffer, Read, Role
from svc_compiler.recording.phases import set_phases
from svc_compiler.triton.capture_trace import CALLS, Call, Trace


@dataclasses.dataclass(frozen=True)
class Merged:
    """What the module did: before any call, in the first call, in the second."""

    # Those before `second_call` are all that the plan of the first call may use.
    buffers: list[Buffer]
    second_call: int
    kernels: list[str]
    calls: list[Assembled]

    @property
    def unanswered(self) -> bool:
        """The run stopped at a read that has no answer."""
        return bool(self.calls[-1].reads and not self.calls[-1].reads[-1].answered)

    def first_call(self, case: kernel_pb2.Case) -> Assembled:
        """The first call, with all that happened before it, in its phases."""
        operations: list[plan_pb2.Operation] = []
        reads: list[Read] = []
        for call in self.calls[:2]:
            reads += [read._replace(position=len(operations) + read.position) for read in call.reads]
            operations += call.operations
        set_phases(operations, len(self.calls[0].operations), self.buffers, case)
        return Assembled(operations, list(self.calls[:2][-1].results), reads)


def merge(runs: Sequence[tuple[Trace, NativeTrace]], padding: Mapping[str, Sequence[int]]) -> Merged:
    """Both runs as one; raises Refused where they differ, and what `recording_plan.Assembler` raises."""
    (trace, native), (other, other_native) = runs
    if _described(trace) != _described(other) or len(native.calls) != len(other_native.calls):
        raise verdicts.unplannable("host code does something else each time that it is recorded")
    own = _Buffers(trace, native)
    assembler = Assembler((_named(native, trace), _named(other_native, other)), padding)
    parts = [assembler.call(first, second) for first, second in zip(native.calls, other_native.calls, strict=True)]
    if assembler.differences:
        raise verdicts.unplannable("; ".join(dict.fromkeys(assembler.differences)))
    calls = [_merged(call, parts, own) for call in trace.calls]
    if parts and calls:
        calls[0].operations[:0] = [own.of_native(one) for one in parts[0].operations]
    return Merged(own.buffers, own.second_call, assembler.kernels, calls)


class _Buffers:
    """One numbering for the buffers of Python and of the library: Python's, the library's own, the second call's."""

    def __init__(self, trace: Trace, native: NativeTrace) -> None:
        before = trace.calls[CALLS].first_buffer if len(trace.calls) > CALLS else len(trace.buffers)
        known = {address: index for index, address in enumerate(trace.addresses) if address}
        self._native: dict[int, int] = {}
        python = [
            Buffer(address, one.size, Role.INPUT if one.given else Role.SCRATCH, one.position, one.name)
            for one, address in zip(trace.buffers, trace.addresses, strict=True)
        ]
        own = [index for index, one in enumerate(native.buffers) if one.address not in known]
        self.buffers = [*python[:before], *(native.buffers[index] for index in own), *python[before:]]
        self.second_call = before + len(own)
        self._python = [index if index < before else index + len(own) for index in range(len(python))]
        self._native = {index: before + number for number, index in enumerate(own)}
        for index, one in enumerate(native.buffers):
            if one.address in known:
                self._native[index] = self._python[known[one.address]]

    def of_python(self, index: int) -> int:
        """The number of a buffer that Python knows; raises IndexError."""
        return self._python[index] if index >= 0 else index

    def of_native(self, operation: plan_pb2.Operation) -> plan_pb2.Operation:
        """An operation of the library, renumbered."""
        return renumbered(operation, self._native.__getitem__)


def _merged(call: Call, parts: Sequence[Assembled], own: _Buffers) -> Assembled:
    """A call of the module, with what its extensions did in the place of their calls."""
    operations: list[plan_pb2.Operation] = []
    starts = []
    try:
        for operation in call.plan.operations:
            starts.append(len(operations))
            if not operation.HasField("launch"):
                operations.append(renumbered(operation, own.of_python))
                continue
            part = parts[operation.launch.kernel] if operation.launch.kernel < len(parts) else Assembled([], [], [])
            operations += [own.of_native(one) for one in part.operations]
        starts.append(len(operations))
        reads = [
            Read(starts[read.position], _result(source, own), read.what, read.answered)
            for read, source in zip(call.reads, call.read_sources, strict=True)
        ]
        return Assembled(operations, [_result(one, own) for one in call.plan.results], reads)
    except (IndexError, KeyError) as error:
        raise verdicts.damaged("there is no such buffer") from error


def _result(result: plan_pb2.Result, own: _Buffers) -> plan_pb2.Result:
    return plan_pb2.Result(buffer=own.of_python(result.buffer), view=result.view)


def _named(native: NativeTrace, trace: Trace) -> NativeTrace:
    """The trace with Python's names for the buffers that it made; what comes before the first call belongs to it."""
    names = {address: one.name for one, address in zip(trace.buffers, trace.addresses, strict=True) if address}
    buffers = [dataclasses.replace(one, name=names.get(one.address, one.name)) for one in native.buffers]
    return dataclasses.replace(native, buffers=buffers)


def _described(trace: Trace) -> list[object]:
    """All that Python did, without addresses."""
    calls = [
        (call.plan.SerializeToString(deterministic=True), [one.SerializeToString() for one in call.read_sources])
        for call in trace.calls
    ]
    return [calls, [(one.size, one.given, one.position) for one in trace.buffers]]
