"""The bounded reader of launch plans: nothing acts on a plan that has not passed `check`.

A plan comes from a process that held foreign code. Every index, size and range in it is checked before use; what a
kernel does with its pointers is the business of whoever runs it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from kernelvault.replay import bundle, bundle_views
from kernelvault.v1 import kernel_pb2, plan_pb2

_PATTERNS = (1, 2, 4, 8, 16)
_POINTER_BYTES = 8
_MAX_OFFSET = 1 << 48
_MAX_EXTENT = (1 << 31) - 1


class Malformed(ValueError):
    """The plan breaks a rule; the message names the field."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """The most that a plan may hold."""

    buffers: int = 4096
    kernels: int = 1024
    operations: int = 16384
    results: int = 256
    # Of all buffers, and of all results, together.
    total_bytes: int = 16 << 30
    # Constants from the host, together.
    upload_bytes: int = 64 << 10
    # Of one launch: the size of a kernel argument segment.
    argument_bytes: int = 16 << 10
    block_threads: int = 1024
    # Of one launch: the other configurations of an autotuned kernel.
    alternatives: int = 64
    # gfx950 has the most.
    lds_bytes: int = 160 << 10
    name_characters: int = 1 << 14


DEFAULT_LIMITS = Limits()


def check(plan: plan_pb2.LaunchPlan, limits: Limits = DEFAULT_LIMITS) -> None:
    """Raises Malformed, naming the field, unless every number in the plan is in bounds."""
    for what, count, most in (
        ("buffers", len(plan.buffers), limits.buffers),
        ("kernels", len(plan.kernels), limits.kernels),
        ("operations", len(plan.operations), limits.operations),
        ("results", len(plan.results), limits.results),
    ):
        _require(count <= most, what, f"{count} are more than {most}")
    _check_buffers(plan, limits)
    for i, kernel in enumerate(plan.kernels):
        _require(0 < len(kernel.name) <= limits.name_characters, f"kernels[{i}].name", "is empty or too long")
    reader = _Reader(plan, limits)
    for i, operation in enumerate(plan.operations):
        reader.check_operation(operation, f"operations[{i}]")
        _check_order(operation.concurrent_with, i, f"operations[{i}].concurrent_with")
    _check_order(plan.unawaited, len(plan.operations), "unawaited")
    _require(reader.uploaded <= limits.upload_bytes, "operations", f"upload {reader.uploaded} bytes in all")
    total = 0
    for i, result in enumerate(plan.results):
        reader.check_result(result, f"results[{i}]")
        total += bundle.element_count(result.view.dims) * bundle.element_bytes(result.view.dtype)
    _require(total <= limits.total_bytes, "results", f"hold {total} bytes in all")


def launches(plan: plan_pb2.LaunchPlan) -> list[plan_pb2.Launch]:
    """The launches of a plan in order."""
    return [operation.launch for operation in plan.operations if operation.WhichOneof("operation") == "launch"]


def has_streams(plan: plan_pb2.LaunchPlan) -> bool:
    """Whether any operations are not ordered."""
    return bool(plan.unawaited) or any(operation.concurrent_with for operation in plan.operations)


def unlaunched_results(plan: plan_pb2.LaunchPlan) -> list[int]:
    """The results that no kernel can have written: no launch has a pointer to them, nor to what was copied there.

    An address in a table that host code uploads is one that any later launch may follow. `plan` has passed `check`.
    """
    reached: set[int] = set()
    tabled: set[int] = set()
    for operation in plan.operations:
        match operation.WhichOneof("operation"):
            case "launch":
                reached |= tabled | {relocation.buffer for relocation in operation.launch.relocations}
            case "upload":
                tabled |= {relocation.buffer for relocation in operation.upload.relocations}
            case "copy" if operation.copy.source in reached:
                reached.add(operation.copy.destination)
            case "convert" if operation.convert.source in reached:
                reached.add(operation.convert.destination)
    whole = ((i, result) for i, result in enumerate(plan.results) if bundle.element_count(result.view.dims))
    return [i for i, result in whole if not result.variable and result.buffer not in reached]


def thread_count(extent: plan_pb2.Extent) -> int:
    """How many there are in an extent."""
    return extent.x * extent.y * extent.z


def _require(condition: bool, field: str, problem: str) -> None:
    if not condition:
        raise Malformed(f"failed to read a launch plan: {field}: {problem}")


def _check_order(numbers: Sequence[int], before: int, where: str) -> None:
    _require(len(numbers) <= before, where, f"names {len(numbers)} of {before} operations")
    for number in numbers:
        _require(0 <= number < before, where, f"{number} is no earlier operation")


def _check_buffers(plan: plan_pb2.LaunchPlan, limits: Limits) -> None:
    total = 0
    positions: set[tuple[int, int]] = set()
    for i, buffer in enumerate(plan.buffers):
        where = f"buffers[{i}]"
        _require(0 <= buffer.size_bytes <= limits.total_bytes, f"{where}.size_bytes", f"is {buffer.size_bytes}")
        _require(buffer.role in plan_pb2.Buffer.Role.values() and buffer.role != 0, f"{where}.role", "is not known")
        _require(len(buffer.name) <= limits.name_characters, f"{where}.name", "is too long")
        if buffer.role != plan_pb2.Buffer.SCRATCH:
            place = (buffer.role, buffer.position)
            _require(
                buffer.position >= 0 and place not in positions, f"{where}.position", f"{buffer.position} is taken"
            )
            positions.add(place)
        total += buffer.size_bytes
    _require(total <= limits.total_bytes, "buffers", f"hold {total} bytes in all, more than {limits.total_bytes}")


class _Reader:
    """Checks operations against the plan's buffers and kernels."""

    def __init__(self, plan: plan_pb2.LaunchPlan, limits: Limits) -> None:
        self._plan = plan
        self._limits = limits
        self.uploaded = 0

    def check_operation(self, operation: plan_pb2.Operation, where: str) -> None:
        phases = (plan_pb2.Operation.INIT, plan_pb2.Operation.CALL)
        _require(operation.phase in phases, f"{where}.phase", "is not known")
        match operation.WhichOneof("operation"):
            case "launch":
                self._check_launch(operation.launch, f"{where}.launch")
            case "copy":
                self._check_copy(operation.copy, f"{where}.copy")
            case "fill":
                self._check_fill(operation.fill, f"{where}.fill")
            case "upload":
                self._check_upload(operation.upload, f"{where}.upload")
            case "convert":
                self._check_convert(operation.convert, f"{where}.convert")
            case _:
                raise Malformed(f"failed to read a launch plan: {where}: holds no operation")

    def check_result(self, result: plan_pb2.Result, where: str) -> None:
        if result.variable:  # its size is known to the image only
            known = len(result.variable) <= self._limits.name_characters
            _require(known, f"{where}.variable", "is too long")
            self._check_shape(result.view, where)
        else:
            self.check_view(result.view, result.buffer, where)

    def check_view(self, view: kernel_pb2.TensorView, buffer: int, where: str) -> None:
        size = self._size(buffer, f"{where}.buffer")
        self._check_shape(view, where)
        needed = bundle.span_bytes(view)
        _require(needed <= size, f"{where}.view", f"needs {needed} bytes of a buffer of {size}")

    def _check_shape(self, view: kernel_pb2.TensorView, where: str) -> None:
        try:
            bundle.element_bytes(view.dtype)
        except bundle.Malformed as error:
            _require(False, f"{where}.view.dtype", str(error))
        same_rank = len(view.dims) == len(view.strides) <= bundle_views.MAX_DIMS
        _require(same_rank, f"{where}.view.strides", f"{len(view.strides)} for {len(view.dims)} dims")
        for what, values in (
            ("dims", view.dims),
            ("strides", view.strides),
            ("offset_elements", [view.offset_elements]),
        ):
            _require(
                all(0 <= v <= bundle.MAX_ELEMENTS for v in values), f"{where}.view.{what}", f"holds {list(values)}"
            )
        _require(bundle.element_count(view.dims) <= bundle.MAX_ELEMENTS, f"{where}.view.dims", "are too large")

    def _size(self, buffer: int, where: str) -> int:
        _require(0 <= buffer < len(self._plan.buffers), where, f"there is no buffer {buffer}")
        return self._plan.buffers[buffer].size_bytes

    def _check_range(self, buffer: int, offset: int, size: int, where: str) -> None:
        held = self._size(buffer, where)
        inside = 0 <= offset <= held and 0 <= size <= held - offset
        _require(inside, where, f"[{offset}, {offset + size}) is not within a buffer of {held} bytes")

    def _check_relocations(self, relocations: Sequence[plan_pb2.Relocation], size: int, where: str) -> None:
        ends = -1
        for i, relocation in enumerate(sorted(relocations, key=lambda r: r.at)):
            inside = 0 <= relocation.at <= size - _POINTER_BYTES
            _require(inside, f"{where}[{i}].at", f"{relocation.at} is not within {size} bytes")
            _require(relocation.at > ends, f"{where}[{i}].at", f"{relocation.at} overlaps another")
            ends = relocation.at + _POINTER_BYTES - 1
            self._size(relocation.buffer, f"{where}[{i}].buffer")
            _require(abs(relocation.offset) <= _MAX_OFFSET, f"{where}[{i}].offset", f"{relocation.offset} is too far")

    def _check_launch(self, launch: plan_pb2.Launch, where: str) -> None:
        limits, kernels = self._limits, self._plan.kernels
        _require(0 <= launch.kernel < len(kernels), f"{where}.kernel", f"there is no kernel {launch.kernel}")
        grid, block = launch.grid, launch.block
        sides = (grid.x, grid.y, grid.z)
        fits = all(0 < side <= _MAX_EXTENT for side in sides) and thread_count(grid) <= _MAX_EXTENT
        _require(fits, f"{where}.grid", f"{sides} is empty or too large")
        threads = thread_count(block)
        if threads or not any(image.block_threads for image in kernels[launch.kernel].images):
            sides = (block.x, block.y, block.z)
            _require(0 < threads <= limits.block_threads, f"{where}.block", f"{sides} has {threads} threads")
        lds = launch.dynamic_lds_bytes
        _require(0 <= lds <= limits.lds_bytes, f"{where}.dynamic_lds_bytes", f"{lds} is not within {limits.lds_bytes}")
        size = len(launch.arguments)
        _require(size <= limits.argument_bytes, f"{where}.arguments", f"{size} bytes are too many")
        self._check_relocations(launch.relocations, size, f"{where}.relocations")
        self._check_alternatives(launch, where)

    def _check_alternatives(self, launch: plan_pb2.Launch, where: str) -> None:
        count = len(launch.alternatives)
        most = self._limits.alternatives
        _require(count <= most, f"{where}.alternatives", f"{count} are more than {most}")
        for i, alternative in enumerate(launch.alternatives):
            place = f"{where}.alternatives[{i}]"
            _require(not alternative.alternatives, f"{place}.alternatives", "an alternative has none itself")
            self._check_launch(alternative, place)

    def _check_copy(self, copy: plan_pb2.Copy, where: str) -> None:
        self._check_range(copy.source, copy.source_offset, copy.size_bytes, f"{where}.source")
        self._check_range(copy.destination, copy.destination_offset, copy.size_bytes, f"{where}.destination")
        distance = abs(copy.source_offset - copy.destination_offset)
        apart = copy.source != copy.destination or distance >= copy.size_bytes
        _require(apart, f"{where}.destination_offset", "the ranges overlap")

    def _check_fill(self, fill: plan_pb2.Fill, where: str) -> None:
        self._check_range(fill.buffer, fill.offset, fill.size_bytes, where)
        size = len(fill.pattern)
        _require(size in _PATTERNS and fill.size_bytes % size == 0, f"{where}.pattern", f"has {size} bytes")

    def _check_upload(self, upload: plan_pb2.Upload, where: str) -> None:
        size = len(upload.data)
        self.uploaded += size
        if upload.WhichOneof("destination") == "buffer":
            self._check_range(upload.buffer, upload.offset, size, where)
        else:
            named = 0 < len(upload.variable) <= self._limits.name_characters
            _require(named, f"{where}.variable", "is empty or too long")
            _require(0 <= upload.offset <= _MAX_OFFSET, f"{where}.offset", f"is {upload.offset}")
        self._check_relocations(upload.relocations, size, f"{where}.relocations")

    def _check_convert(self, convert: plan_pb2.Convert, where: str) -> None:
        self.check_view(convert.source_view, convert.source, f"{where}.source")
        self.check_view(convert.destination_view, convert.destination, f"{where}.destination")
        same = list(convert.source_view.dims) == list(convert.destination_view.dims)
        _require(same, f"{where}.destination_view.dims", "differ from the source's")
        count = bundle.element_count(convert.source_view.dims)
        size = count * bundle.element_bytes(convert.destination_view.dtype)
        _require(size <= self._limits.total_bytes, f"{where}.source_view.dims", f"are {count} elements")
