"""Runs a launch plan on a CPU image, in a sandboxed process that holds device code only.

Nothing but ctypes touches the device: the image makes the buffers, runs the kernels and writes its report into a memory
file of the parent. Outputs leave as bundles. See cpu_model.py for the parent.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Mapping, Sequence
from typing import Any

from kernelvault.replay import bundle, pattern, replaying
from kernelvault.replay.replaying import BadPlan
from kernelvault.v1 import kernel_pb2, plan_pb2

_DTYPES = {name: code for code, name in enumerate(bundle.DTYPES)}
_ARGUMENT_ALIGNMENT = 256


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
            ("kv_order", None, [ctypes.c_uint, pointer, ctypes.c_uint]),
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


class ImageReplay(replaying.Replay):
    """A plan on an image."""

    def __init__(
        self,
        plan: plan_pb2.LaunchPlan,
        device: Device,
        inputs: list[bundle.Item],
        sampled: int,
        patterns: Mapping[str, int],
    ) -> None:
        super().__init__(plan, inputs, sampled)
        self._device = device
        self._patterns = patterns
        for position, buffer in self.given.items():
            if self.storage(position).nbytes >= plan.buffers[buffer].size_bytes:
                device.given(buffer)

    def begin(self, poison: int) -> None:
        """See replaying.Replay."""
        self._device.begin(poison, 0 if self.sampled else 1)

    def give(self, position: int, buffer: int) -> None:
        """See replaying.Replay."""
        item, storage = self.inputs[position], self.storage(position)
        address, capacity = self.address(buffer), self.plan.buffers[buffer].size_bytes
        size = min(capacity, storage.nbytes)
        if not size:
            if self.sampled and item.view is not None and item.view.dtype in self._patterns:
                pattern.spread(address, capacity, self._patterns[item.view.dtype])
            return
        source = (ctypes.c_char * size).from_buffer(storage)
        if size == capacity or self.sampled:
            # All of a given buffer counts as written: noting it byte by byte would take longer than the copy.
            ctypes.memmove(address, source, size)
        else:
            self._device.upload(address, source, size)

    def address(self, buffer: int) -> int:
        """See replaying.Replay."""
        return int(self._device.addresses[buffer])

    def memory(self, buffer: int) -> memoryview:
        """See replaying.Replay."""
        return self._device.memory(buffer, self.plan.buffers[buffer].size_bytes)

    def result(self, result: plan_pb2.Result, view: kernel_pb2.TensorView, where: str) -> memoryview:
        """See replaying.Replay."""
        size = bundle.element_count(view.dims) * bundle.element_bytes(view.dtype)
        data = (ctypes.c_char * max(size, 1))()
        if size:
            self._convert(ctypes.addressof(data), view, self._source(result, where), result.view)
        return memoryview(data).cast("B")[:size]

    def _source(self, result: plan_pb2.Result, where: str) -> int:
        if not result.variable:
            return self.address(result.buffer)
        address, size = self._variable(result.variable, where)
        if bundle.span_bytes(result.view) > size:
            raise BadPlan(f"{where}: reads beyond the {size} bytes of '{result.variable}'")
        return address

    def order(self, number: int, concurrent: Sequence[int]) -> None:
        """See replaying.Replay."""
        self._device.order(number, (ctypes.c_uint32 * len(concurrent))(*concurrent), len(concurrent))

    def copy(self, copy: plan_pb2.Copy) -> None:
        """See replaying.Replay."""
        to = self.address(copy.destination) + copy.destination_offset
        self._device.copy(to, self.address(copy.source) + copy.source_offset, copy.size_bytes)

    def fill(self, fill: plan_pb2.Fill) -> None:
        """See replaying.Replay."""
        to = self.address(fill.buffer) + fill.offset
        self._device.fill(to, fill.size_bytes, fill.pattern, len(fill.pattern))

    def convert(self, convert: plan_pb2.Convert) -> None:
        """See replaying.Replay."""
        to, source = self.address(convert.destination), self.address(convert.source)
        self._convert(to, convert.destination_view, source, convert.source_view)

    def launch(self, number: int, launch: plan_pb2.Launch, arguments: bytes, backwards: bool) -> bool:
        """See replaying.Replay."""
        space = (ctypes.c_char * (len(arguments) + 2 * _ARGUMENT_ALIGNMENT))()
        start = ctypes.addressof(space)
        start += -start % _ARGUMENT_ALIGNMENT
        ctypes.memmove(start, arguments, len(arguments))
        grid, block = ((ctypes.c_uint32 * 3)(extent.x, extent.y, extent.z) for extent in (launch.grid, launch.block))
        name = self.plan.kernels[launch.kernel].name.encode()
        status: int = self._device.launch(
            number, name, grid, block, launch.dynamic_lds_bytes, start, self.sampled, backwards
        )
        return status == 0

    def upload(self, upload: plan_pb2.Upload, data: bytes, where: str) -> None:
        """See replaying.Replay."""
        if upload.WhichOneof("destination") == "buffer":
            address = self.address(upload.buffer)
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

    def _convert(self, to: int, to_view: kernel_pb2.TensorView, source: int, view: kernel_pb2.TensorView) -> None:
        rank = len(view.dims)
        to_strides, strides, dims = ((ctypes.c_int64 * rank)(*v) for v in (to_view.strides, view.strides, view.dims))
        to += to_view.offset_elements * bundle.element_bytes(to_view.dtype)
        source += view.offset_elements * bundle.element_bytes(view.dtype)
        self._device.convert(to, _DTYPES[to_view.dtype], to_strides, source, _DTYPES[view.dtype], strides, dims, rank)


def run(payload: bytes, descriptors: dict[str, int]) -> int:
    """Entry of the sandboxed process, see replaying.py."""
    return replaying.run(payload, descriptors, _make)


def _make(
    plan: plan_pb2.LaunchPlan, inputs: list[bundle.Item], options: dict[str, Any], descriptors: Mapping[str, int]
) -> ImageReplay:
    report = replaying.writable(descriptors["report"])
    device = Device(options["image"], [b.size_bytes for b in plan.buffers], report)
    return ImageReplay(plan, device, inputs, options["sample_blocks"], descriptors)
