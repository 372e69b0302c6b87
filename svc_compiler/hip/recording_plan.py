"""Two traces of one host code become a launch plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kernelvault.replay import bundle
from kernelvault.v1 import compiler_pb2, kernel_pb2, plan_pb2
from svc_compiler.hip.recording_addresses import WORD_BYTES, Memory, NotRelocatable, Place, relocate, same_place
from svc_compiler.hip.recording_events import (
    Call,
    Convert,
    Copy,
    Download,
    Fill,
    Free,
    Launch,
    Step,
    Sync,
    Trace,
    Upload,
    View,
)
from svc_compiler.hip.recording_order import DEFAULT_STREAM, MAX_PAIRS, Order
from svc_compiler.recording.buffers import name_of, used_buffers
from svc_compiler.recording.calls import Assembled, Read, Role

MAX_UPLOAD_BYTES = 64 << 10


class Unplannable(Exception):
    """A plan cannot say what the host code did; the message says what."""


class Unsafe(Exception):
    """Device code would use memory that it must not; `kind` is of the finding, `kernel` the symbol or empty.

    The message calls the kernel `{kernel}`; `buffer` is the name of what it uses, where that has one.
    """

    def __init__(self, kind: compiler_pb2.Finding.Kind, message: str, *, kernel: str = "", buffer: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.kernel = kernel
        self.buffer = buffer


class Progress:
    """What is known at a point of a call of the candidate: how operations are ordered, and what host code freed."""

    def __init__(self, streams_apart: Collection[int]) -> None:
        self.order = Order(streams_apart)
        self.freed: set[int] = set()


class Assembler:
    """Relocates the calls of two traces. Buffers are numbered as in the traces, kernels in the order of their use."""

    def __init__(self, traces: tuple[Trace, Trace], padding: Mapping[str, Sequence[int]]) -> None:
        self._buffers = traces[0].buffers
        self._memories = Memory(traces[0].buffers), Memory(traces[1].buffers)
        self._streams_apart = traces[0].streams_apart
        self._padding = padding
        self.kernels: list[str] = []
        # What changes with the run, in words.
        self.differences = _different_buffers(traces)

    def begin(self) -> Progress:
        """Where a call of the candidate begins."""
        return Progress(self._streams_apart)

    def call(self, first: Call, second: Call, progress: Progress | None = None) -> Assembled:
        """A call, as both runs made it; what differs is added to `differences`. Raises Unplannable, Unsafe.

        `progress` is given, and moved on, for a call that is a part of the candidate's: operations are then numbered
        from its beginning where they say what they are concurrent with.
        """
        reads: list[Read] = []
        progress = progress or self.begin()
        operations = self._operations(first, second, reads, progress)
        return Assembled(operations, self._results(first, second), reads, progress.order.unawaited(DEFAULT_STREAM))

    def _operations(self, first: Call, second: Call, reads: list[Read], progress: Progress) -> list[plan_pb2.Operation]:
        order, freed = progress.order, progress.freed
        if [type(step) for step in first.steps] != [type(step) for step in second.steps]:
            self.differences.append(
                f"the runs issued different operations, {len(first.steps)} and {len(second.steps)} in all"
            )
            return []
        operations: list[plan_pb2.Operation] = []
        for number, (own, other) in enumerate(zip(first.steps, second.steps, strict=True)):
            try:
                if isinstance(own, Sync):
                    order.sync(_same_sync(own, other))
                    continue
                if isinstance(own, Download) and isinstance(other, Download):
                    read = self._read(own, other, len(operations), freed)
                    reads.append(read._replace(unawaited=order.unawaited(own.stream)))
                    continue
                operation = self._operation(own, other, freed)
            except NotRelocatable as error:
                self.differences.append(f"operation {number} ({type(own).__name__.lower()}): {error}")
                continue
            if operation is not None:
                self._check_live(operation, freed)
                operation.concurrent_with.extend(order.issue(own.stream))
                operations.append(operation)
        if order.pairs > MAX_PAIRS:
            raise Unplannable(f"more than {MAX_PAIRS} pairs of operations on streams that nothing orders")
        return operations

    def _read(self, own: Download, other: Download, position: int, freed: set[int]) -> Read:
        if (own.what, own.answered) != (other.what, other.answered):
            raise NotRelocatable("what host code asks for changes with the run")
        place, view = self._place(own.source, other.source, own.what)
        buffer = self._buffers[place]
        if place in freed:
            raise Unsafe(
                compiler_pb2.Finding.USE_AFTER_FREE,
                f"{own.what} reads {self._shown(place)} after host code freed it",
                buffer=name_of(self._buffers, place),
            )
        variable = buffer.name if buffer.role == Role.VARIABLE else ""
        source = plan_pb2.Result(buffer=-1 if variable else place, view=view, variable=variable)
        return Read(position, source, own.what, own.answered)

    def _results(self, first: Call, second: Call) -> list[plan_pb2.Result]:
        """What the call returned: tensors on the device, in order. Buffer -1: no bytes at all."""
        if len(first.results) != len(second.results):
            self.differences.append("the runs returned different numbers of tensors")
            return []
        results = []
        for own, other in zip(first.results, second.results, strict=True):
            try:
                results.append(self._result(own, other))
            except NotRelocatable as error:
                self.differences.append(f"a result: {error}")
        return results

    def _result(self, own: View, other: View) -> plan_pb2.Result:
        if own.address == 0 == other.address:
            return plan_pb2.Result(buffer=-1, view=_tensor_view(own, 0))
        buffer, view = self._view(own, other)
        return plan_pb2.Result(buffer=buffer, view=view)

    def _operation(self, own: Step, other: Step, freed: set[int]) -> plan_pb2.Operation | None:
        """One step as both runs made it; None for one that leaves no operation."""
        operation = plan_pb2.Operation(phase=plan_pb2.Operation.CALL)
        if isinstance(own, Launch) and isinstance(other, Launch):
            operation.launch.CopyFrom(self._launch(own, other))
        elif isinstance(own, Copy) and isinstance(other, Copy):
            operation.copy.CopyFrom(self._copy(own, other))
        elif isinstance(own, Fill) and isinstance(other, Fill):
            return self._fill(own, other)
        elif isinstance(own, Upload) and isinstance(other, Upload):
            operation.upload.CopyFrom(self._upload(own, other))
        elif isinstance(own, Convert) and isinstance(other, Convert):
            source, destination = (
                self._view(a, b) for a, b in ((own.source, other.source), (own.destination, other.destination))
            )
            operation.convert.source, operation.convert.destination = source[0], destination[0]
            operation.convert.source_view.CopyFrom(source[1])
            operation.convert.destination_view.CopyFrom(destination[1])
        elif isinstance(own, Free) and isinstance(other, Free):
            freed.add(same_place(own.address, other.address, self._memories).buffer)
            return None
        return operation

    def _launch(self, own: Launch, other: Launch) -> plan_pb2.Launch:
        if (own.kernel, own.grid, own.block, own.lds) != (other.kernel, other.grid, other.block, other.lds):
            raise NotRelocatable("kernel, grid, block or dynamic LDS change with the run")
        padding = self._padding.get(own.kernel, ())
        _check_host_pointers(own, other, padding)
        arguments, relocations = relocate(own.arguments, other.arguments, self._memories, padding)
        for relocation in relocations:
            if self._buffers[relocation.buffer].role == Role.VARIABLE:
                name = self._buffers[relocation.buffer].name
                raise Unplannable(f"a kernel takes the address of the module variable `{name}` as an argument")
        if own.kernel not in self.kernels:
            self.kernels.append(own.kernel)
        return plan_pb2.Launch(
            kernel=self.kernels.index(own.kernel),
            grid=plan_pb2.Extent(x=own.grid[0], y=own.grid[1], z=own.grid[2]),
            block=plan_pb2.Extent(x=own.block[0], y=own.block[1], z=own.block[2]),
            dynamic_lds_bytes=own.lds,
            arguments=arguments,
            relocations=relocations,
        )

    def _copy(self, own: Copy, other: Copy) -> plan_pb2.Copy:
        if own.size != other.size:
            raise NotRelocatable("its size changes with the run")
        source = same_place(own.source, other.source, self._memories)
        destination = same_place(own.destination, other.destination, self._memories)
        self._refuse_variable(source.buffer, "a copy from")
        self._refuse_variable(destination.buffer, "a copy between device memory and")
        self._check_inside(source, own.size, "a copy")
        self._check_inside(destination, own.size, "a copy")
        return plan_pb2.Copy(
            source=source.buffer,
            source_offset=source.offset,
            destination=destination.buffer,
            destination_offset=destination.offset,
            size_bytes=own.size,
        )

    def _fill(self, own: Fill, other: Fill) -> plan_pb2.Operation:
        if (own.size, own.pattern) != (other.size, other.pattern):
            raise NotRelocatable("its size or its value changes with the run")
        operation = plan_pb2.Operation(phase=plan_pb2.Operation.CALL)
        place = same_place(own.destination, other.destination, self._memories)
        buffer = self._buffers[place.buffer]
        self._check_inside(place, own.size, "a fill")
        if buffer.role != Role.VARIABLE:
            operation.fill.buffer, operation.fill.offset = place.buffer, place.offset
            operation.fill.size_bytes, operation.fill.pattern = own.size, own.pattern
            return operation
        if own.size > MAX_UPLOAD_BYTES:
            raise Unplannable(f"a fill of {own.size} bytes of the module variable `{buffer.name}`")
        data = own.pattern * (own.size // max(1, len(own.pattern)))
        operation.upload.variable, operation.upload.offset, operation.upload.data = buffer.name, place.offset, data
        return operation

    def _upload(self, own: Upload, other: Upload) -> plan_pb2.Upload:
        place = same_place(own.destination, other.destination, self._memories)
        self._check_inside(place, len(own.data), "an upload")
        data, relocations = relocate(own.data, other.data, self._memories)
        upload = plan_pb2.Upload(offset=place.offset, data=data, relocations=relocations)
        if self._buffers[place.buffer].role == Role.VARIABLE:
            upload.variable = self._buffers[place.buffer].name
        else:
            upload.buffer = place.buffer
        for relocation in relocations:
            self._refuse_variable(relocation.buffer, "an upload of the address of")
        return upload

    def _view(self, own: View, other: View) -> tuple[int, kernel_pb2.TensorView]:
        buffer, view = self._place(own, other)
        self._refuse_variable(buffer, "a tensor in")
        return buffer, view

    def _place(self, own: View, other: View, what: str = "a tensor") -> tuple[int, kernel_pb2.TensorView]:
        described = [(view.dtype, view.dims, view.strides, view.offset) for view in (own, other)]
        if described[0] != described[1]:
            raise NotRelocatable("a tensor's shape changes with the run")
        place = same_place(own.address, other.address, self._memories)
        view = _tensor_view(own, place.offset)
        self._check_inside(Place(place.buffer, min(0, view.offset_elements)), bundle.span_bytes(view), what)
        return place.buffer, view

    def _check_inside(self, place: Place, size: int, what: str) -> None:
        held = self._buffers[place.buffer].size
        if place.offset < 0 or place.offset + size > held:
            raise Unsafe(
                compiler_pb2.Finding.OUT_OF_BOUNDS,
                f"{what} of {size} bytes at offset {place.offset} leaves {self._shown(place.buffer)}",
                buffer=name_of(self._buffers, place.buffer),
            )

    def _shown(self, buffer: int) -> str:
        return f"the buffer '{name_of(self._buffers, buffer)}' of {self._buffers[buffer].size} bytes"

    def _refuse_variable(self, buffer: int, what: str) -> None:
        if self._buffers[buffer].role == Role.VARIABLE:
            raise Unplannable(f"{what} the module variable `{self._buffers[buffer].name}`")

    def _check_live(self, operation: plan_pb2.Operation, freed: set[int]) -> None:
        for index in sorted(freed & used_buffers(operation)):
            kernel = self.kernels[operation.launch.kernel] if operation.HasField("launch") else ""
            raise Unsafe(
                compiler_pb2.Finding.USE_AFTER_FREE,
                f"{'`{kernel}`' if kernel else 'a copy or fill'} uses {self._shown(index)} after host code freed it; "
                "keep the tensor that owns it in a variable until after the launch",
                kernel=kernel,
                buffer=name_of(self._buffers, index),
            )


def _check_host_pointers(own: Launch, other: Launch, padding: Sequence[int]) -> None:
    for at in sorted(set(own.host_pointers) & set(other.host_pointers)):
        if not set(range(at, at + WORD_BYTES)) & set(padding):
            raise Unsafe(
                compiler_pb2.Finding.HOST_POINTER,
                f"`{{kernel}}` is passed a pointer to host memory, at byte {at} of its arguments",
                kernel=own.kernel,
            )


def _same_sync(own: Sync, other: Step) -> Sync:
    if own != other:
        raise NotRelocatable("its stream or event changes with the run")
    return own


def _tensor_view(view: View, offset_bytes: int) -> kernel_pb2.TensorView:
    try:
        width = bundle.element_bytes(view.dtype)
    except bundle.Malformed as error:
        raise Unplannable(f"a tensor of dtype {view.dtype}") from error
    if offset_bytes % width:
        raise Unplannable("a tensor that is not aligned to its elements")
    return kernel_pb2.TensorView(
        dtype=view.dtype, dims=view.dims, strides=view.strides, offset_elements=view.offset + offset_bytes // width
    )


def _different_buffers(traces: tuple[Trace, Trace]) -> list[str]:
    described = [[(b.size, b.role, b.position, b.name) for b in trace.buffers] for trace in traces]
    return [] if described[0] == described[1] else ["the runs allocated different buffers"]
