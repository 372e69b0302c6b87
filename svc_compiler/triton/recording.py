"""What a candidate's host code does on the device, as the capturing process writes it down.

Tensors on the device are torch's `meta` tensors: sizes without memory. Memory is known by its storage, and each storage
has an address of its own that nobody could read from, so that alignment and pointer arithmetic are as on a device.
"""

from __future__ import annotations

import bisect
import contextlib
import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from kernelvault.replay import bundle
from kernelvault.replay.touched import destination, used_by
from kernelvault.v1 import kernel_pb2, plan_pb2

Operation = plan_pb2.Operation
MAX_OPERATIONS = 16384
MAX_BUFFERS = 4096
MAX_UPLOAD_BYTES = 64 << 10
# Where the kernel places no mappings of a process.
_BASE = 0x1000_0000_0000
_GUARD_BYTES = 1 << 21
_ALIGNMENT = 512


_host_address = torch.UntypedStorage.data_ptr


class Stopped(BaseException):
    """The capture ends here. No `Exception`: host code must not go on after it."""


class Unplannable(Stopped):
    """A plan cannot say what the host code did; the message says what."""


class NotCompilable(Stopped):
    """Triton would not compile a kernel; the message says which and why."""

    def __init__(self, message: str, place: tuple[str, int]) -> None:
        super().__init__(message)
        # File and line of the kernel.
        self.place = place


@dataclasses.dataclass(frozen=True)
class Foreign:
    """A torch operator on device data: as host code calls it, as ATen calls it, and from where."""

    name: str
    operator: str
    place: str


@dataclasses.dataclass(frozen=True)
class Read:
    """Host code wants the values of a tensor, after so many operations."""

    position: int
    source: plan_pb2.Result
    what: str
    answered: bool


@dataclasses.dataclass
class Call:
    """What one call did; the first of a recording is what happened before any call."""

    first_buffer: int = 0
    operations: list[Operation] = dataclasses.field(default_factory=list)
    reads: list[Read] = dataclasses.field(default_factory=list)
    results: list[plan_pb2.Result] = dataclasses.field(default_factory=list)
    other_results: list[str] = dataclasses.field(default_factory=list)
    returned_sequence: bool = False


@dataclasses.dataclass
class Memory:
    """One storage on the device."""

    size: int
    address: int
    # The case's parameter at `position` lies in it.
    given: bool = False
    position: int = 0
    name: str = ""


class Recording:
    """All that host code did so far. `answers` are the values that it reads, in the order of its reads."""

    def __init__(self, sources: Path, answers: list[bytes]) -> None:
        self.buffers: list[Memory] = []
        self.calls: list[Call] = [Call()]
        self.foreign: list[Foreign] = []
        self.limitations: list[str] = []
        # Remarks that do not keep a plan from being made.
        self.notes: list[str] = []
        self.properties: dict[str, int] = {}
        # The function of torch that host code is in.
        self.function: object = None
        # A read had no answer: whatever host code still does counts no more.
        self.stopped = False
        # `ModelNew` is being made: its parameters are on the device, whatever its author said.
        self.lifting = False
        # How many answers host code was given so far; each call is given the same.
        self.taken = 0
        self._taken_before = 0
        self._sources = f"{sources.resolve()}/"
        self._answers = answers
        self._numbers: dict[int, int] = {}
        self._starts: list[int] = []
        # Kept, so that no other storage gets the identity of a known one.
        self._storages: list[Any] = []
        self._sink = self.calls[0].operations
        self._apart = False
        # Buffers whose contents a foreign operator made before the first call, and which.
        self._tainted: dict[int, Foreign] = {}
        self._oversized: dict[int, int] = {}

    @property
    def call(self) -> Call:
        """The current call."""
        return self.calls[-1]

    @property
    def apart(self) -> bool:
        """Whether operations are left out now: an autotuner tries configurations."""
        return self._apart

    def begin_call(self) -> None:
        """What follows belongs to a call of the candidate."""
        if len(self.calls) == 1:
            self._taken_before = self.taken
        self.taken = self._taken_before
        self.calls.append(Call(first_buffer=len(self.buffers)))
        self._sink = self.call.operations

    @contextlib.contextmanager
    def aside(self) -> Iterator[list[Operation]]:
        """Operations go to the list that is given, and to no plan."""
        outer, self._sink = (self._sink, self._apart), []
        self._apart = True
        try:
            yield self._sink
        finally:
            self._sink, self._apart = outer

    def number(self, tensor: torch.Tensor) -> int:
        """The buffer that a tensor on the device lies in."""
        return self._number(tensor.untyped_storage())

    def _number(self, storage: torch.UntypedStorage) -> int:
        identity = storage._cdata
        if identity not in self._numbers:
            self._add(storage, self._place(storage.nbytes()))
        return self._numbers[identity]

    def _add(self, storage: torch.UntypedStorage, address: int) -> None:
        """Makes a storage known, as memory at `address`."""
        if len(self.buffers) == MAX_BUFFERS:
            raise Unplannable(f"host code uses more than {MAX_BUFFERS} buffers")
        self._numbers[storage._cdata] = len(self.buffers)
        self._storages.append(storage)
        self.buffers.append(Memory(storage.nbytes(), address))
        self._starts.append(address)

    def _place(self, size: int) -> int:
        """Where new memory of `size` bytes lies."""
        last = self.buffers[-1] if self.buffers else Memory(0, _BASE)
        return -(-(last.address + last.size + _GUARD_BYTES) // _ALIGNMENT) * _ALIGNMENT

    def adopt(self, tensor: torch.Tensor, position: int, name: str) -> None:
        """The storage of `tensor` holds the argument `position` of the case; what was written to it before is void."""
        index = self.number(tensor)
        memory = self.buffers[index]
        memory.given, memory.position, memory.name = True, position, name
        self._tainted.pop(index, None)
        self._oversized.pop(index, None)
        operations = self.calls[0].operations
        operations[:] = [one for one in operations if destination(one) != index]

    def address(self, tensor: torch.Tensor) -> int:
        """Where the first element of a tensor on the device lies."""
        return self.buffers[self.number(tensor)].address + int(tensor.storage_offset()) * tensor.element_size()

    def storage_address(self, storage: torch.UntypedStorage) -> int:
        """Where memory begins; on the device, as `address` tells it."""
        if storage.device.type != "meta":
            return _host_address(storage)
        return self.buffers[self._number(storage)].address

    def locate(self, address: int) -> tuple[int, int] | None:
        """The buffer and the offset of an address; None if it is none of the device's."""
        index = bisect.bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        offset = address - self._starts[index]
        return (index, offset) if offset <= self.buffers[index].size + _GUARD_BYTES // 2 else None

    def view(self, tensor: torch.Tensor) -> kernel_pb2.TensorView:
        """The tensor as a view of its buffer; raises Unplannable for a dtype that plans do not know."""
        dtype = str(tensor.dtype).removeprefix("torch.")
        if dtype not in bundle.DTYPES:
            raise Unplannable(f"host code uses tensors of {dtype} ({self.place()})")
        return kernel_pb2.TensorView(
            dtype=dtype, dims=tensor.shape, strides=tensor.stride(), offset_elements=int(tensor.storage_offset())
        )

    def result(self, tensor: torch.Tensor) -> plan_pb2.Result:
        """A tensor on the device, as a plan's result."""
        return plan_pb2.Result(buffer=self.number(tensor), view=self.view(tensor))

    def emit(self, **operation: Any) -> None:
        """Adds an operation, given as its field of `Operation`."""
        if self.stopped:
            raise Stopped("the capture has ended")
        if len(self._sink) == MAX_OPERATIONS:
            raise Unplannable(f"host code issues more than {MAX_OPERATIONS} operations")
        phase = Operation.INIT if len(self.calls) == 1 else Operation.CALL
        self._sink.append(Operation(phase=phase, **operation))

    def read(self, tensor: torch.Tensor, what: str) -> torch.Tensor:
        """The values of a tensor on the device, contiguous on the host; ends the capture where they are not known."""
        if self.stopped:
            raise Stopped("the capture has ended")
        if self._apart:
            raise Unplannable(f"host code reads device memory while an autotuner runs ({what} at {self.place()})")
        source = self.result(tensor)
        answered = self.taken < len(self._answers)
        self.call.reads.append(Read(len(self._sink), source, what, answered))
        if not answered:
            self.stopped = True
            raise Stopped(f"host code reads device memory ({what} at {self.place()})")
        data = self._answers[self.taken]
        self.taken += 1
        if len(data) != tensor.numel() * tensor.element_size():
            raise Unplannable("host code does something else each time that it is recorded")
        if not data:
            return torch.empty(tuple(tensor.shape), dtype=tensor.dtype)
        return torch.frombuffer(bytearray(data), dtype=torch.uint8).view(tensor.dtype).reshape(tuple(tensor.shape))

    def upload_too_large(self, tensor: torch.Tensor, size: int) -> None:
        """Notes an upload that no plan can hold, unless its destination becomes an argument of the case."""
        self._oversized[self.number(tensor)] = size

    def note_foreign(self, name: str, operator: str, outputs: list[torch.Tensor]) -> None:
        """A torch operator computed `outputs`. Before the first call it counts only if the plan uses them."""
        found = Foreign(name, operator, self.place())
        if len(self.calls) > 1:
            self.foreign.append(found)
        for output in outputs if len(self.calls) == 1 else ():
            self._tainted.setdefault(self.number(output), found)

    def finish(self) -> None:
        """Judges what happened before the first call, by what the plan uses of it."""
        if len(self.calls) > 1 and not self.calls[0].reads:
            self._drop_unused()
        used = {index for call in self.calls[:2] for one in call.operations for index in used_by(one)}
        used |= {result.buffer for call in self.calls[:2] for result in call.results}
        self.foreign += [found for index, found in self._tainted.items() if index in used]
        sizes = [size for index, size in self._oversized.items() if index in used]
        if sizes:
            self.limitations.append(
                f"host code uploads {max(sizes)} bytes or more; a plan holds at most {MAX_UPLOAD_BYTES}"
            )

    def _drop_unused(self) -> None:
        """Leaves out what moved data before the first call to where nobody looks."""
        needed = {index for call in self.calls[1:] for one in call.operations for index in used_by(one)}
        needed |= {result.buffer for call in self.calls[1:] for result in call.results}
        needed |= {read.source.buffer for call in self.calls[1:] for read in call.reads}
        kept = []
        for operation in reversed(self.calls[0].operations):
            if operation.HasField("launch") or destination(operation) in needed:
                kept.append(operation)
                needed.update(used_by(operation))
        self.calls[0].operations[:] = reversed(kept)

    def place(self) -> str:
        """`file:line` of the innermost line of the candidate that is being executed, or nothing."""
        frame = sys._getframe(1)
        while frame is not None:
            filename = frame.f_code.co_filename
            if filename.startswith(self._sources):
                return f"{filename.removeprefix(self._sources)}:{frame.f_lineno}"
            frame = frame.f_back  # type: ignore[assignment]
        return ""
