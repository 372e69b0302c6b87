"""A script's tensors as the interpreter's memory, and what its kernels do wrong with them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime.jit import JITFunction

from kernelvault.replay.triton import wording
from kernelvault.replay.triton.interpreter import launching
from kernelvault.replay.triton.interpreter.formats import SCALARS, decode, stored
from kernelvault.replay.triton.interpreter.language import Language
from kernelvault.replay.triton.interpreter.launching import Grid
from kernelvault.replay.triton.interpreter.memory import Buffer, Memory
from kernelvault.replay.triton.interpreter.races import Shadow
from kernelvault.replay.triton.interpreter.tensors import Handle, Tensor
from kernelvault.replay.triton.recording import Recorder
from kernelvault.v1 import compiler_pb2, plan_pb2, triton_pb2

_LANGUAGE = Language()
_LANGUAGE.prepare()
_MOST_FINDINGS = 64


class ScriptMemory:
    """Runs launches on the memory of their tensors; each fault of a line is found once for the whole script."""

    def __init__(self, sources: Path) -> None:
        self._sources = f"{sources}/"
        self.findings: list[compiler_pb2.Finding] = []
        self._seen: set[tuple[object, ...]] = set()
        # Tensors whose addresses the script has asked for: they stay where they are.
        self._named: dict[int, tuple[Buffer, Any]] = {}

    def address_of(self, tensor: torch.Tensor) -> int:
        """What a script gets as a tensor's `data_ptr()`: an address of the interpreter's."""
        storage = tensor.untyped_storage()
        if storage._cdata not in self._named:
            self._named[storage._cdata] = (Buffer(len(self._named), _bytes_of(storage)), storage)
        return int(self._named[storage._cdata][0].base + tensor.storage_offset() * tensor.element_size())

    def launch(
        self,
        function: JITFunction[Any],
        variant: triton_pb2.TritonProgram.Variant,
        values: Mapping[str, Any],
        grid: Grid,
    ) -> None:
        """Interprets one launch. Raises what the kernel and the interpreter raise."""
        buffers = {key: buffer for key, (buffer, _) in self._named.items()}
        names: dict[int, str] = {}
        arguments = {
            parameter.name: self._argument(parameter, values[parameter.name], buffers, names)
            for parameter in variant.parameters
        }
        recorder = Recorder()
        shadow = Shadow(recorder, ())
        builder = _LANGUAGE.builder
        builder.memory = Memory(list(buffers.values()), recorder, [shadow])
        recorder.begin_launch(0, grid)

        def begin(number: int) -> None:
            recorder.begin_program(number)
            shadow.begin_program(number)

        made = _LANGUAGE.function(function.fn)
        made.refresh()
        try:
            launching.launch(_LANGUAGE, made, arguments, launching.order(grid), begin_program=begin)
        finally:
            if recorder.findings:
                self._tell(recorder, function.fn.__name__, list(buffers.values()), names, grid)

    def _argument(
        self,
        parameter: triton_pb2.TritonProgram.Parameter,
        value: Any,
        buffers: dict[int, Buffer],
        names: dict[int, str],
    ) -> Any:
        if parameter.WhichOneof("kind") == "constant":
            return _LANGUAGE.translate(value)
        if not parameter.type.startswith("*"):
            return _scalar(value, parameter.type)
        type_ = tl.str_to_ty(parameter.type, None)
        tensor = getattr(value, "base", value)
        if not isinstance(tensor, torch.Tensor):
            return launching.pointer(int(value.data_ptr() if hasattr(value, "data_ptr") else value), type_)
        storage = tensor.untyped_storage()
        if storage._cdata not in buffers:
            buffers[storage._cdata] = Buffer(len(buffers), _bytes_of(storage))
        buffer = buffers[storage._cdata]
        names.setdefault(buffer.number, parameter.name)
        return launching.pointer(int(buffer.base + tensor.storage_offset() * tensor.element_size()), type_)

    def _tell(
        self, recorder: Recorder, kernel: str, buffers: list[Buffer], names: Mapping[int, str], grid: Grid
    ) -> None:
        extent = plan_pb2.Extent(x=grid[0], y=grid[1], z=grid[2])
        plan = plan_pb2.LaunchPlan(
            kernels=[plan_pb2.Kernel(name=kernel)],
            operations=[plan_pb2.Operation(launch=plan_pb2.Launch(grid=extent))],
            buffers=[
                plan_pb2.Buffer(size_bytes=one.size, role=plan_pb2.Buffer.SCRATCH, name=names.get(one.number, "?"))
                for one in buffers
            ],
        )
        words = wording.Wording(plan, triton_pb2.TritonProgram())
        for raw in recorder.findings:
            found = words.describe(raw)
            found.location = f"{raw.file.removeprefix(self._sources)}:{raw.line}" if raw.file else ""
            key = (found.kind, found.location, found.kernel, found.buffer)
            if key not in self._seen and len(self.findings) < _MOST_FINDINGS:
                self._seen.add(key)
                self.findings.append(found)


def _bytes_of(storage: Any) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The storage's memory, shared with it."""
    size = storage.nbytes()
    if not size:
        return np.zeros(0, np.uint8)
    pointer = ctypes.cast(storage.data_ptr(), ctypes.POINTER(ctypes.c_uint8))
    return np.ctypeslib.as_array(pointer, (size,))


def _scalar(value: Any, type_: str) -> Tensor:
    scalar = SCALARS[tl.str_to_ty(type_, None).name]
    kind = stored(scalar)
    if scalar.is_floating():
        given = torch.tensor([float(value)], dtype=getattr(torch, _TORCH[scalar.name]))
        data = np.frombuffer(given.view(torch.uint8).numpy().tobytes(), kind)
    else:
        mask = (1 << (8 * kind.itemsize)) - 1
        data = np.frombuffer((int(value) & mask).to_bytes(kind.itemsize, "little"), kind)
    return Tensor(Handle(decode(data, scalar), scalar), scalar)


_TORCH = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
