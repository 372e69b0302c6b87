"""Walks a launch plan in a sandboxed process, whatever runs its kernels: see cpu_child.py and triton/child.py.

A payload is a JSON header, a zero byte and the plan. Outputs leave as bundles in memory files of the parent.
"""

from __future__ import annotations

import abc
import json
import mmap
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from kernelvault.replay import bundle, touched
from kernelvault.replay import plan as plans
from kernelvault.v1 import kernel_pb2, plan_pb2

BAD_PLAN = 3
_ADDRESS_MASK = (1 << 64) - 1
# Formats of memoryview by the bytes of an element.
_WORDS: dict[int, Literal["B", "H", "I", "Q"]] = {1: "B", 2: "H", 4: "I", 8: "Q"}


class BadPlan(Exception):
    """The plan does not fit the image; the message says why."""


class Replay(abc.ABC):
    """One plan on one device, run from a fresh state as often as wanted.

    Where blocks are sampled (`sampled` is not 0), findings are not made and outputs are not wanted.
    """

    def __init__(self, plan: plan_pb2.LaunchPlan, inputs: list[bundle.Item], sampled: int) -> None:
        self.plan = plan
        self.inputs = inputs
        self.sampled = sampled
        self._has_streams = plans.has_streams(plan)
        self.given = {b.position: i for i, b in enumerate(plan.buffers) if b.role == plan_pb2.Buffer.INPUT}
        preparations = [operation for operation in plan.operations if operation.phase == plan_pb2.Operation.INIT]
        self._prepared = {buffer for operation in preparations for buffer in touched.used_by(operation)}
        for position, buffer in self.given.items():
            if position >= len(inputs) or inputs[position].storage is None:
                raise BadPlan(f"buffers[{buffer}].position: there is no tensor {position} among the inputs")

    @abc.abstractmethod
    def begin(self, poison: int) -> None:
        """Makes all memory hold `poison`."""

    @abc.abstractmethod
    def give(self, position: int, buffer: int) -> None:
        """Puts an input into its buffer: its own bytes, or a pattern where these were left out."""

    @abc.abstractmethod
    def address(self, buffer: int) -> int:
        """Where a buffer begins, as kernels see it."""

    @abc.abstractmethod
    def memory(self, buffer: int) -> memoryview:
        """A buffer's bytes."""

    @abc.abstractmethod
    def launch(self, number: int, launch: plan_pb2.Launch, arguments: bytes, backwards: bool) -> bool:
        """Runs a kernel; False where it ended early."""

    @abc.abstractmethod
    def copy(self, copy: plan_pb2.Copy) -> None:
        """Copies bytes."""

    @abc.abstractmethod
    def fill(self, fill: plan_pb2.Fill) -> None:
        """Repeats a pattern."""

    @abc.abstractmethod
    def upload(self, upload: plan_pb2.Upload, data: bytes, where: str) -> None:
        """Writes constants; `where` is for messages."""

    @abc.abstractmethod
    def convert(self, convert: plan_pb2.Convert) -> None:
        """Copies a view, converted."""

    @abc.abstractmethod
    def result(self, result: plan_pb2.Result, view: kernel_pb2.TensorView, where: str) -> memoryview:
        """A result's elements as the contiguous `view` has them."""

    def run(self, *, poison: int, backwards: bool) -> bool:
        """Runs all operations; False if a launch ended early, which the report then says.

        `poison` is what memory holds before it is written; findings are made unless blocks are sampled. A plan that
        prepares something is called twice where the blocks run backwards, first on other values: what the first call
        leaves in prepared memory must not decide what the second gives.
        """
        self.begin(poison)
        operations = list(enumerate(self.plan.operations))
        call = [(i, operation) for i, operation in operations if operation.phase == plan_pb2.Operation.CALL]
        rehearsed = backwards and len(call) < len(operations)
        for part in [operations, call] if rehearsed else [operations]:
            for position, buffer in self.given.items():
                self.give(position, buffer)
                if rehearsed and part is operations and buffer not in self._prepared:
                    self._disguise(position, buffer)
            if not all(self._apply(i, operation, backwards) for i, operation in part):
                return False
        return True

    def _disguise(self, position: int, buffer: int) -> None:
        """Turns a floating-point input back to front; whole numbers may be indices."""
        view = self.inputs[position].view
        if view is None or "float" not in view.dtype:
            return
        width = bundle.element_bytes(view.dtype)
        values = self.memory(buffer)[: self.storage(position).nbytes // width * width].cast(_WORDS[width])
        values[:] = memoryview(values[::-1].tobytes()).cast(_WORDS[width])

    def order(self, number: int, concurrent: Sequence[int]) -> None:  # noqa: B027 most devices look at no order
        """Before each operation, and before the results are read: nothing orders it after those of `concurrent`."""

    def outputs(self) -> list[bundle.Item]:
        """The results, contiguous."""
        items = []
        if self._has_streams:
            self.order(len(self.plan.operations), self.plan.unawaited)
        for i, result in enumerate(self.plan.results):
            view = bundle.contiguous_view(result.view.dtype, result.view.dims)
            items.append(bundle.Item(f"output{i}", view, self.result(result, view, f"results[{i}]")))
        return items

    def inputs_after(self) -> list[bundle.Item]:
        """The inputs as the operations left them."""
        now: dict[int, memoryview] = {}
        for position, buffer in self.given.items():
            storage = self.storage(position)
            if storage.nbytes <= self.plan.buffers[buffer].size_bytes:
                now[id(storage)] = self.memory(buffer)[: storage.nbytes]
        return [bundle.Item(i.name, i.view, now.get(id(i.storage), i.storage), i.scalar) for i in self.inputs]

    def storage(self, position: int) -> memoryview:
        """The bytes of a tensor among the inputs."""
        storage = self.inputs[position].storage
        assert storage is not None
        return storage

    def _apply(self, number: int, operation: plan_pb2.Operation, backwards: bool) -> bool:
        if self._has_streams:
            self.order(number, operation.concurrent_with)
        match operation.WhichOneof("operation"):
            case "launch":
                launch = operation.launch
                return self.launch(number, launch, self._relocated(launch.arguments, launch.relocations), backwards)
            case "copy":
                self.copy(operation.copy)
            case "fill":
                self.fill(operation.fill)
            case "upload":
                upload = operation.upload
                data = self._relocated(upload.data, upload.relocations)
                self.upload(upload, data, f"operations[{number}].upload")
            case "convert":
                self.convert(operation.convert)
        return True

    def _relocated(self, data: bytes, relocations: Sequence[plan_pb2.Relocation]) -> bytes:
        patched = bytearray(data)
        for relocation in relocations:
            address = (self.address(relocation.buffer) + relocation.offset) & _ADDRESS_MASK
            patched[relocation.at : relocation.at + 8] = address.to_bytes(8, "little")
        return bytes(patched)


# What makes a replay: plan, inputs, the header's options, the descriptors.
Make = Callable[[plan_pb2.LaunchPlan, list[bundle.Item], dict[str, Any], Mapping[str, int]], Replay]


def run(payload: bytes, descriptors: dict[str, int], make: Make) -> int:
    """The work of a sandboxed process: all repetitions of a plan. Returns the exit code."""
    header, _, data = payload.partition(b"\0")
    options = json.loads(header)
    plan = plan_pb2.LaunchPlan.FromString(data)
    plans.check(plan)
    try:
        _run(plan, options, descriptors, make)
    except BadPlan as error:
        print(error, file=sys.stderr)
        return BAD_PLAN
    return 0


def _run(plan: plan_pb2.LaunchPlan, options: dict[str, Any], descriptors: dict[str, int], make: Make) -> None:
    # A private mapping: ctypes takes the addresses of writable memory only.
    size = os.fstat(descriptors["inputs"]).st_size
    inputs = bundle.read(memoryview(mmap.mmap(descriptors["inputs"], size, access=mmap.ACCESS_COPY)))
    replay = make(plan, inputs, options, descriptors)
    for number, (poison, backwards) in enumerate(options["runs"]):
        if not replay.run(poison=poison, backwards=backwards) or options["sample_blocks"]:
            return
        bundle.pack_into(replay.outputs(), memoryview(writable(descriptors[f"outputs{number}"])))
        if number == 0:
            bundle.pack_into(replay.inputs_after(), memoryview(writable(descriptors["inputs_after"])))


def writable(descriptor: int) -> mmap.mmap:
    """A memory file, mapped for writing."""
    return mmap.mmap(descriptor, os.fstat(descriptor).st_size)
