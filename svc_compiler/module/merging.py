"""What Python captured and what the recorder wrote down of the extensions' calls, as one sequence of operations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from kernelvault.v1 import kernel_pb2, plan_pb2
from svc_compiler.hip.recording_events import Call as NativeCall
from svc_compiler.hip.recording_events import Ordering, Sync
from svc_compiler.hip.recording_events import Trace as NativeTrace
from svc_compiler.hip.recording_order import DEFAULT_STREAM
from svc_compiler.hip.recording_plan import Assembler
from svc_compiler.recording import verdicts
from svc_compiler.recording.buffers import renumbered
from svc_compiler.recording.calls import Assembled, Buffer, Read, Role
from svc_compiler.recording.phases import set_phases
from svc_compiler.triton.capture_trace import CALLS, Call, Trace

_READ = Sync(Ordering.HOST_WAITS, DEFAULT_STREAM, 0)


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
        whole = Assembled([], [], [])
        for call in self.calls[:2]:
            whole = _after(whole, call)
        set_phases(whole.operations, len(self.calls[0].operations), self.buffers, case)
        return whole


def merge(runs: Sequence[tuple[Trace, NativeTrace]], padding: Mapping[str, Sequence[int]]) -> Merged:
    """Both runs as one; raises Refused where they differ, and what `recording_plan.Assembler` raises."""
    (trace, native), (other, other_native) = runs
    if _described(trace) != _described(other) or len(native.calls) != len(other_native.calls):
        raise verdicts.unplannable("host code does something else each time that it is recorded")
    own = _Buffers(trace, native)
    assembler = Assembler((_named(native, trace), _named(other_native, other)), padding)
    parts = list(zip(native.calls, other_native.calls, strict=True))
    # The first part is what happened while the library was loaded.
    calls = [
        _Merger(assembler, parts, own).call(call, loading=number == 0 and bool(parts))
        for number, call in enumerate(trace.calls)
    ]
    if assembler.differences:
        raise verdicts.unplannable("; ".join(dict.fromkeys(assembler.differences)))
    return Merged(own.buffers, own.second_call, assembler.kernels, calls)


class _Buffers:
    """One numbering for the buffers of Python and of the library: Python's, the library's own, the second call's."""

    def __init__(self, trace: Trace, native: NativeTrace) -> None:
        before = trace.calls[CALLS].first_buffer if len(trace.calls) > CALLS else len(trace.buffers)
        known = {address: index for index, address in enumerate(trace.addresses) if address}
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

    def of_native(self, index: int) -> int:
        """The number of a buffer in the recorder's trace; raises KeyError."""
        return self._native[index] if index >= 0 else index


class _Merger:
    """Puts what extensions did in the place of their calls, in one call of the module."""

    def __init__(self, assembler: Assembler, parts: Sequence[tuple[NativeCall, NativeCall]], buffers: _Buffers) -> None:
        self._assembler = assembler
        self._parts = parts
        self._buffers = buffers
        self._progress = assembler.begin()
        self._operations: list[plan_pb2.Operation] = []
        self._reads: list[Read] = []

    def call(self, call: Call, *, loading: bool) -> Assembled:
        """The whole call, after what happened while the library was loaded if that is wanted."""
        try:
            if loading:
                self._native(0)
            for number, operation in enumerate(call.plan.operations):
                self._python_reads(call, number)
                if operation.HasField("launch"):
                    self._native(operation.launch.kernel)
                else:
                    self._python(operation)
            self._python_reads(call, len(call.plan.operations))
            results = [_renumbered(one, self._buffers.of_python) for one in call.plan.results]
        except (IndexError, KeyError) as error:
            raise verdicts.damaged("there is no such buffer") from error
        return Assembled(self._operations, results, self._reads, self._unawaited())

    def _python(self, operation: plan_pb2.Operation) -> None:
        changed = renumbered(operation, self._buffers.of_python)
        changed.concurrent_with[:] = self._progress.order.issue(DEFAULT_STREAM)
        self._operations.append(changed)

    def _python_reads(self, call: Call, number: int) -> None:
        """What Python read after `number` of its own operations."""
        for read, source in zip(call.reads, call.read_sources, strict=True):
            if read.position == number:
                where, place = len(self._operations), _renumbered(source, self._buffers.of_python)
                self._reads.append(Read(where, place, read.what, read.answered, self._unawaited()))
                self._progress.order.sync(_READ)

    def _native(self, number: int) -> None:
        """What a call of an extension did."""
        if number >= len(self._parts):
            return
        part = self._assembler.call(*self._parts[number], self._progress)
        before = len(self._operations)
        self._operations += [renumbered(operation, self._buffers.of_native) for operation in part.operations]
        for read in part.reads:
            source = _renumbered(read.source, self._buffers.of_native)
            self._reads.append(read._replace(position=before + read.position, source=source))

    def _unawaited(self) -> list[int]:
        return self._progress.order.unawaited(DEFAULT_STREAM)


def _after(first: Assembled, second: Assembled) -> Assembled:
    """Both calls as one: the second begins when the first is over."""
    count = len(first.operations)
    operations = []
    for operation in second.operations:
        moved = plan_pb2.Operation()
        moved.CopyFrom(operation)
        moved.concurrent_with[:] = [count + one for one in operation.concurrent_with]
        operations.append(moved)
    unawaited = [count + one for one in second.unawaited]
    reads = [
        read._replace(position=count + read.position, unawaited=[count + one for one in read.unawaited])
        for read in second.reads
    ]
    return Assembled([*first.operations, *operations], second.results, [*first.reads, *reads], unawaited)


def _renumbered(result: plan_pb2.Result, number: Callable[[int], int]) -> plan_pb2.Result:
    return plan_pb2.Result(buffer=number(result.buffer), view=result.view, variable=result.variable)


def _named(native: NativeTrace, trace: Trace) -> NativeTrace:
    """The trace with Python's names for the buffers that it made."""
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
