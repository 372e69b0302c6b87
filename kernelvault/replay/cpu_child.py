"""Runs a launch plan on a CPU image, in a sandboxed process that holds device code only.

Nothing but ctypes touches the device: the image makes the buffers, runs the kernels and writes its report into a memory
file of the parent. Outputs leave as bundles. See cpu_model.py for the parent.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from kernelvault.replay import bundle, pattern
from kernelvault.replay import plan as plans
from kernelvault.v1 import kernel_pb2, plan_pb2

BAD_PLAN = 3
_DTYPES = {name: code for code, name in enumerate(bundle.DTYPES)}
_ARGUMENT_ALIGNMENT = 256
_ADDRESS_MASK = (1 << 64) - 1


class BadPlan(Exception):
    """The plan does not fit the image; the message says why."""


class Device:
    """The image's interface, runtime/api.cpp."""

    def __init__(self, path: str, sizes: Sequence[int], report: mmap.mmap) -> None:
        image = ctypes.CDLL(path)
        pointer, number, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64
        for name, result, arguments in (
            ("kv_open", number, [pointer, ctypes.c_uint, pointer]),
            ("kv_report_bytes", size, []),
            ("kv_buffer", pointer, [ctypes.c_uint]),
            ("kv_given", None, [ctypes.c_uint]),
            ("kv_begin", None, [number, number]),
            ("kv_variable", pointer, [ctypes.c_char_p, pointer]),
            ("kv_copy", None, [pointer, pointer, size]),
            ("kv_upload", None, [pointer, pointer, size]),
            ("kv_fill", None, [pointer, size, pointer, size]),
            ("kv_convert", number, [pointer, number, pointer, pointer, number, pointer, pointer, number]),
            ("kv_launch", number, [ctypes.c_uint, ctypes.c_char_p, pointer, pointer, size, pointer, size, number]),
        ):
            function = getattr(image, name)
            function.restype, function.argtypes = result, arguments
        self._image = image
        if image.kv_report_bytes() != len(report):
            raise BadPlan("the image was built for another version of the CPU model")
        self._report = (ctypes.c_char * len(report)).from_buffer(report)
        if image.kv_open((ctypes.c_uint64 * len(sizes))(*sizes), len(sizes), self._report):
            raise BadPlan("the buffers do not fit into memory")
        self.addresses = [image.kv_buffer(i) for i in range(len(sizes))]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._image, f"kv_{name}")

    def memory(self, buffer: int, size: int) -> memoryview:
        """A buffer's bytes."""
        return memoryview((ctypes.c_char * size).from_address(self.addresses[buffer])).cast("B")


class Replay:
    """One plan on one device, run from a fresh state as often as wanted."""

    def __init__(
        self,
        plan: plan_pb2.LaunchPlan,
        device: Device,
        inputs: list[bundle.Item],
        sampled: int,
        patterns: Mapping[str, int],
    ) -> None:
        self._plan = plan
        self._device = device
        self._sampled = sampled
        self._given = {b.position: i for i, b in enumerate(plan.buffers) if b.role == plan_pb2.Buffer.INPUT}
        self._inputs = inputs
        self._patterns = patterns
        for position, buffer in self._given.items():
            if position >= len(inputs) or inputs[position].storage is None:
                raise BadPlan(f"buffers[{buffer}].position: there is no tensor {position} among the inputs")
            if self._storage(position).nbytes >= plan.buffers[buffer].size_bytes:
                device.given(buffer)

    def run(self, *, poison: int, backwards: bool) -> bool:
        """Runs all operations; False if a launch ended early, which the report then says.

        `poison` is what memory holds before it is written; findings are made unless blocks are sampled.
        """
        self._device.begin(poison, 0 if self._sampled else 1)
        for position, buffer in self._given.items():
            self._give(position, buffer)
        return all(self._apply(i, operation, backwards) for i, operation in enumerate(self._plan.operations))

    def _give(self, position: int, buffer: int) -> None:
        """Puts an input into its buffer: its own bytes, or a pattern where these were left out."""
        item, storage = self._inputs[position], self._storage(position)
        address, capacity = self._device.addresses[buffer], self._plan.buffers[buffer].size_bytes
        size = min(capacity, storage.nbytes)
        if not size:
            if self._sampled and item.view is not None and item.view.dtype in self._patterns:
                pattern.spread(address, capacity, self._patterns[item.view.dtype])
            return
        source = (ctypes.c_char * size).from_buffer(storage)
        if size == capacity or self._sampled:
            # All of a given buffer counts as written: noting it byte by byte would take longer than the copy.
            ctypes.memmove(address, source, size)
        else:
            self._device.upload(address, source, size)

    def outputs(self) -> list[bundle.Item]:
        """The results, contiguous."""
        items = []
        for i, result in enumerate(self._plan.results):
            view = bundle.contiguous_view(result.view.dtype, result.view.dims)
            size = bundle.element_count(view.dims) * bundle.element_bytes(view.dtype)
            data = (ctypes.c_char * max(size, 1))()
            if size:
                source = self._source(result, f"results[{i}]")
                self._convert(ctypes.addressof(data), view, source, result.view)
            items.append(bundle.Item(f"output{i}", view, memoryview(data).cast("B")[:size]))
        return items

    def _source(self, result: plan_pb2.Result, where: str) -> int:
        if not result.variable:
            return int(self._device.addresses[result.buffer])
        address, size = self._variable(result.variable, where)
        if bundle.span_bytes(result.view) > size:
            raise BadPlan(f"{where}: reads beyond the {size} bytes of '{result.variable}'")
        return address

    def inputs_after(self) -> list[bundle.Item]:
        """The inputs as the operations left them."""
        now: dict[int, memoryview] = {}
        for position, buffer in self._given.items():
            storage = self._storage(position)
            if storage.nbytes <= self._plan.buffers[buffer].size_bytes:
                now[id(storage)] = self._device.memory(buffer, storage.nbytes)
        return [bundle.Item(i.name, i.view, now.get(id(i.storage), i.storage), i.scalar) for i in self._inputs]

    def _storage(self, position: int) -> memoryview:
        storage = self._inputs[position].storage
        assert storage is not None
        return storage

    def _apply(self, number: int, operation: plan_pb2.Operation, backwards: bool) -> bool:
        match operation.WhichOneof("operation"):
            case "launch":
                return self._launch(number, operation.launch, backwards)
            case "copy":
                copy = operation.copy
                to = self._device.addresses[copy.destination] + copy.destination_offset
                self._device.copy(to, self._device.addresses[copy.source] + copy.source_offset, copy.size_bytes)
            case "fill":
                fill = operation.fill
                to = self._device.addresses[fill.buffer] + fill.offset
                self._device.fill(to, fill.size_bytes, fill.pattern, len(fill.pattern))
            case "upload":
                self._upload(operation.upload, f"operations[{number}].upload")
            case "convert":
                convert = operation.convert
                to, source = self._device.addresses[convert.destination], self._device.addresses[convert.source]
                self._convert(to, convert.destination_view, source, convert.source_view)
        return True

    def _launch(self, number: int, launch: plan_pb2.Launch, backwards: bool) -> bool:
        data = self._relocated(launch.arguments, launch.relocations)
        space = (ctypes.c_char * (len(data) + 2 * _ARGUMENT_ALIGNMENT))()
        start = ctypes.addressof(space)
        start += -start % _ARGUMENT_ALIGNMENT
        ctypes.memmove(start, data, len(data))
        grid, block = ((ctypes.c_uint32 * 3)(extent.x, extent.y, extent.z) for extent in (launch.grid, launch.block))
        name = self._plan.kernels[launch.kernel].name.encode()
        status: int = self._device.launch(
            number, name, grid, block, launch.dynamic_lds_bytes, start, self._sampled, backwards
        )
        return status == 0

    def _upload(self, upload: plan_pb2.Upload, where: str) -> None:
        data = self._relocated(upload.data, upload.relocations)
        if upload.WhichOneof("destination") == "buffer":
            address = self._device.addresses[upload.buffer]
        else:
            address, size = self._variable(upload.variable, where)
            if upload.offset + len(data) > size:
                raise BadPlan(f"{where}: writes beyond the {size} bytes of '{upload.variable}'")
        self._device.upload(address + upload.offset, data, len(data))

    def _variable(self, name: str, where: str) -> tuple[int, int]:
        size = ctypes.c_uint64()
        address = self._device.variable(name.encode(), ctypes.byref(size))
        if not address:
            raise BadPlan(f"{where}.variable: there is no variable '{name}' in device code")
        return int(address), size.value

    def _relocated(self, data: bytes, relocations: Sequence[plan_pb2.Relocation]) -> bytes:
        patched = bytearray(data)
        for relocation in relocations:
            address = (self._device.addresses[relocation.buffer] + relocation.offset) & _ADDRESS_MASK
            patched[relocation.at : relocation.at + 8] = address.to_bytes(8, "little")
        return bytes(patched)

    def _convert(self, to: int, to_view: kernel_pb2.TensorView, source: int, view: kernel_pb2.TensorView) -> None:
        rank = len(view.dims)
        to_strides, strides, dims = ((ctypes.c_int64 * rank)(*v) for v in (to_view.strides, view.strides, view.dims))
        to += to_view.offset_elements * bundle.element_bytes(to_view.dtype)
        source += view.offset_elements * bundle.element_bytes(view.dtype)
        self._device.convert(to, _DTYPES[to_view.dtype], to_strides, source, _DTYPES[view.dtype], strides, dims, rank)


def run(payload: bytes, descriptors: dict[str, int]) -> int:
    """Entry of the sandboxed process; the payload is a JSON header, a zero byte and the plan."""
    header, _, data = payload.partition(b"\0")
    options = json.loads(header)
    plan = plan_pb2.LaunchPlan.FromString(data)
    plans.check(plan)
    try:
        _run(plan, options, descriptors)
    except BadPlan as error:
        print(error, file=sys.stderr)
        return BAD_PLAN
    return 0


def _run(plan: plan_pb2.LaunchPlan, options: dict[str, Any], descriptors: dict[str, int]) -> None:
    # A private mapping: ctypes takes the addresses of writable memory only.
    size = os.fstat(descriptors["inputs"]).st_size
    inputs = bundle.read(memoryview(mmap.mmap(descriptors["inputs"], size, access=mmap.ACCESS_COPY)))
    report = _writable(descriptors["report"])
    device = Device(options["image"], [b.size_bytes for b in plan.buffers], report)
    replay = Replay(plan, device, inputs, options["sample_blocks"], descriptors)
    for number, (poison, backwards) in enumerate(options["runs"]):
        if not replay.run(poison=poison, backwards=backwards) or options["sample_blocks"]:
            return
        bundle.pack_into(replay.outputs(), memoryview(_writable(descriptors[f"outputs{number}"])))
        if number == 0:
            bundle.pack_into(replay.inputs_after(), memoryview(_writable(descriptors["inputs_after"])))


def _writable(descriptor: int) -> mmap.mmap:
    return mmap.mmap(descriptor, os.fstat(descriptor).st_size)
