"""Interprets the launches of a plan, in a sandboxed process that holds Triton functions and no host code.

See model.py for the parent. Inputs, outputs and the report pass through memory files.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kernelvault.replay import bundle, conversion, pattern, replaying
from kernelvault.replay.replaying import BadPlan
from kernelvault.replay.triton import arguments, program, report
from kernelvault.replay.triton.interpreter import faults, language, launching, memory
from kernelvault.replay.triton.interpreter.counters import LINE_BYTES, SEGMENT_BYTES, Counters
from kernelvault.replay.triton.interpreter.races import Shadow
from kernelvault.replay.triton.namespace import author_file
from kernelvault.replay.triton.recording import Recorder
from kernelvault.v1 import kernel_pb2, plan_pb2, profiler_pb2

# Made once, before the fork: its functions of Triton's library are ready.
_LANGUAGE = language.Language()
_LANGUAGE.prepare()


class Launches:
    """The kernels of a program, and what is told of their launches."""

    def __init__(self, image: Path, told: mmap.mmap, budget_ns: float) -> None:
        self._program = program.read(image.read_bytes())
        self._functions = program.materialize(self._program, lambda function, _: _LANGUAGE.function(function))
        self._variants = {variant.name: variant for variant in self._program.variants}
        self._told = told
        self.report = report.Report()
        self.recorder = Recorder()
        _LANGUAGE.control.budget_ns = budget_ns

    def run(self, number: int, name: str, data: bytes, order: launching.Order, *, shadow: Shadow | None) -> bool:
        """Runs the programs of `order`; False where a kernel ended early, which the report then says."""
        variant = self._variants.get(name)
        if variant is None:
            raise BadPlan(f"there is no kernel {name!r} in the program")
        self.report.operation = number
        self.tell(report.RUNNING, short=True)
        self.recorder.begin_launch(number, order.grid)
        if shadow:
            shadow.begin_launch()
        values = arguments.of_launch(variant, data, self._functions, _LANGUAGE)

        def begin(program_number: int) -> None:
            self.recorder.begin_program(program_number)
            if shadow:
                shadow.begin_program(program_number)

        try:
            launching.launch(_LANGUAGE, self._functions[variant.function], values, order, begin_program=begin)
        except faults.AssertionFailed as error:
            return self._ended(report.ASSERTED, error)
        except faults.TooMuchWork as error:
            return self._ended(report.TOO_MUCH, error)
        except MemoryError:
            raise
        except Exception as error:
            # It compiles for a GPU: what Python makes of it is the interpreter's fault.
            return self._ended(report.UNSUPPORTED, error)
        return True

    def _ended(self, status: int, error: Exception) -> bool:
        self.report.file, self.report.line = faults.line_of_error(error.__traceback__)
        self.report.file = author_file(self.report.file)
        known = isinstance(error, NotImplementedError | faults.AssertionFailed | faults.TooMuchWork)
        self.report.text = str(error) if known else f"{type(error).__name__}: {error}"
        self.tell(status)
        return False

    def tell(self, status: int, *, short: bool = False) -> None:
        """Brings the report up to date; `short` leaves out what a launch did not change."""
        if short:
            body_bytes = report.HEADER.unpack_from(self._told)[2]
        else:
            self.report.findings = self.recorder.findings
            body = self.report.pack()
            body_bytes = len(body)
            self._told[report.HEADER.size : report.HEADER.size + body_bytes] = body
        self._told[: report.HEADER.size] = report.HEADER.pack(status, self.report.operation, body_bytes)


class ProgramReplay(replaying.Replay):
    """A plan on the interpreter."""

    def __init__(
        self, plan: plan_pb2.LaunchPlan, inputs: list[bundle.Item], options: dict[str, Any], files: Mapping[str, int]
    ) -> None:
        super().__init__(plan, inputs, options["sample_blocks"])
        self._files = files
        try:
            sizes = [buffer.size_bytes for buffer in plan.buffers]
            self._mappings = [mmap.mmap(-1, max(size, 1)) for size in sizes]
        except (OSError, ValueError, OverflowError) as error:
            raise MemoryError("the buffers do not fit into memory") from error
        arrays = [np.frombuffer(m, np.uint8)[:size] for m, size in zip(self._mappings, sizes, strict=True)]
        self._buffers = [memory.Buffer(number, array) for number, array in enumerate(arrays)]
        told = replaying.writable(files["report"])
        self._launches = Launches(Path(options["image"]), told, options["budget_ns"])
        self._shadow: Shadow | None = None

    def begin(self, poison: int) -> None:
        """See replaying.Replay."""
        given = set(self.given.values())
        for buffer in self._buffers:
            whole = buffer.number in given and self._covers(buffer.number)
            if not whole and (poison or not self.sampled):
                buffer.data[:] = poison
        if not self.sampled:
            self._shadow = Shadow(self._launches.recorder, self._buffers)

    def _covers(self, number: int) -> bool:
        position = self.plan.buffers[number].position
        return self.storage(position).nbytes >= self.plan.buffers[number].size_bytes

    def give(self, position: int, buffer: int) -> None:
        """See replaying.Replay."""
        item, storage, place = self.inputs[position], self.storage(position), self._buffers[buffer]
        size = min(place.size, storage.nbytes)
        if not size:
            if self.sampled and item.view is not None and item.view.dtype in self._files:
                pattern.spread(_address(self._mappings[buffer]), place.size, self._files[item.view.dtype])
            return
        place.data[:size] = np.frombuffer(storage, np.uint8)[:size]
        if self._shadow:
            self._shadow.given(place, 0, size)

    def address(self, buffer: int) -> int:
        """See replaying.Replay."""
        return self._buffers[buffer].base

    def memory(self, buffer: int) -> memoryview:
        """See replaying.Replay."""
        return memoryview(self._mappings[buffer])[: self._buffers[buffer].size]

    def launch(self, number: int, launch: plan_pb2.Launch, arguments: bytes, backwards: bool) -> bool:
        """See replaying.Replay."""
        grid = (launch.grid.x, launch.grid.y, launch.grid.z)
        order = launching.order(grid, self.sampled, backwards=backwards)
        name = self.plan.kernels[launch.kernel].name
        counters = Counters()
        builder = _LANGUAGE.builder
        watchers: list[memory.Watcher] = [self._shadow] if self._shadow else [counters]
        builder.memory = memory.Memory(self._buffers, None if self.sampled else self._launches.recorder, watchers)
        builder.vector_flops = 0
        builder.matrix_flops.clear()
        if not self._launches.run(number, name, arguments, order, shadow=self._shadow):
            return False
        if self.sampled:
            self._launches.report.counters[number] = _counted(counters, grid, len(order))
        return True

    def copy(self, copy: plan_pb2.Copy) -> None:
        """See replaying.Replay."""
        source, to, size = self._buffers[copy.source], self._buffers[copy.destination], copy.size_bytes
        start, end = copy.destination_offset, copy.destination_offset + size
        to.data[start:end] = source.data[copy.source_offset : copy.source_offset + size]
        if self._shadow:
            self._shadow.copied(source, copy.source_offset, to, copy.destination_offset, size)

    def fill(self, fill: plan_pb2.Fill) -> None:
        """See replaying.Replay."""
        to = self._buffers[fill.buffer]
        place = to.data[fill.offset : fill.offset + fill.size_bytes]
        place.reshape(-1, len(fill.pattern))[:] = np.frombuffer(fill.pattern, np.uint8)
        if self._shadow:
            self._shadow.given(to, fill.offset, fill.size_bytes)

    def upload(self, upload: plan_pb2.Upload, data: bytes, where: str) -> None:
        """See replaying.Replay."""
        if upload.WhichOneof("destination") != "buffer":
            raise BadPlan(f"{where}.variable: Triton kernels have no module variables")
        to = self._buffers[upload.buffer]
        to.data[upload.offset : upload.offset + len(data)] = np.frombuffer(data, np.uint8)
        if self._shadow:
            self._shadow.given(to, upload.offset, len(data))

    def convert(self, convert: plan_pb2.Convert) -> None:
        """See replaying.Replay."""
        source, to = convert.source, convert.destination
        conversion.copy(self.memory(source), convert.source_view, self.memory(to), convert.destination_view)
        if self._shadow:
            self._shadow.converted(
                self._buffers[source], convert.source_view, self._buffers[to], convert.destination_view
            )

    def result(self, result: plan_pb2.Result, view: kernel_pb2.TensorView, where: str) -> memoryview:
        """See replaying.Replay."""
        if result.variable:
            raise BadPlan(f"{where}.variable: Triton kernels have no module variables")
        data = memoryview(bytearray(bundle.element_count(view.dims) * bundle.element_bytes(view.dtype)))
        conversion.copy(self.memory(result.buffer), result.view, data, view)
        return data

    def run(self, *, poison: int, backwards: bool) -> bool:
        """See replaying.Replay."""
        finished = super().run(poison=poison, backwards=backwards)
        if finished:
            if self._shadow:
                self._launches.report.launched |= self._shadow.launched
            self._launches.tell(report.FINISHED)
        return finished


def _address(mapping: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(mapping))


def _counted(counters: Counters, grid: launching.Grid, sampled: int) -> profiler_pb2.Profile.Counters:
    """Scaled up to all programs."""
    count, builder = grid[0] * grid[1] * grid[2], _LANGUAGE.builder
    scale = count / max(1, sampled)
    moved = counters.read_bytes + counters.written_bytes
    fetched = counters.segments * SEGMENT_BYTES
    return profiler_pb2.Profile.Counters(
        global_read_bytes=int(counters.read_bytes * scale),
        global_write_bytes=int(counters.written_bytes * scale),
        global_transaction_bytes=int(fetched * scale),
        global_line_bytes=int(counters.lines * LINE_BYTES * scale),
        coalescing=min(1.0, moved / fetched) if fetched else 0.0,
        atomics=int(counters.atomics * scale),
        matrix_flops=int(builder.matrix_flops.total() * scale),
        matrix_flops_by_type={name: int(flops * scale) for name, flops in builder.matrix_flops.items()},
        vector_flops=int(builder.vector_flops * scale),
        blocks=count,
        sampled_blocks=sampled,
        unique_bytes=int(counters.unique_bytes * scale),
    )


def run(payload: bytes, descriptors: dict[str, int]) -> int:
    """Entry of the sandboxed process, see replaying.py."""
    return replaying.run(payload, descriptors, ProgramReplay)
