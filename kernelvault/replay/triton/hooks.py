"""Checks under Triton's own launches: `kernel[grid](*tensors)` on CPU tensors is interpreted, accesses seen.

    report = Checked()
    with checked(report):
        run_the_script()

A tensor's storage is its bounds. For scripts that have no plan; a process of their own, because they are foreign code.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import autotuner, interpreter, jit
from triton.tools.tensor_descriptor import TensorDescriptor

from kernelvault.replay.triton.interpreter import faults, launching, memory
from kernelvault.replay.triton.interpreter.counters import Counters
from kernelvault.replay.triton.interpreter.functions import Function
from kernelvault.replay.triton.interpreter.language import Language
from kernelvault.replay.triton.interpreter.races import Shadow
from kernelvault.replay.triton.interpreter.semantic import constant
from kernelvault.replay.triton.recording import Recorder
from kernelvault.replay.triton.wording import Wording
from kernelvault.v1 import compiler_pb2, plan_pb2

MAX_FINDINGS = 64


class NeedsDevice(RuntimeError):
    """A kernel needs what the interpreter lacks, or too much work; the message says where and what."""


class KernelFailed(RuntimeError):
    """An assertion of a kernel failed; the message says where and which."""


@dataclass
class Checked:
    """What the launches under `checked` did."""

    findings: list[compiler_pb2.Finding] = field(default_factory=list)
    launches: int = 0
    programs: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    atomics: int = 0
    matrix_flops: int = 0
    # What could not be interpreted: messages of NeedsDevice.
    obstacles: list[str] = field(default_factory=list)


@contextlib.contextmanager
def checked(report: Checked, *, budget_s: float = float("inf")) -> Iterator[None]:
    """Runs launches of the block on the interpreter and adds what they do to `report`.

    Launches raise NeedsDevice where they cannot be interpreted or, by an estimate, would take longer than `budget_s`
    together, and KernelFailed. An autotuned kernel runs with the first configuration that it is left with. Kernels may
    be decorated before or within the block, with TRITON_INTERPRET set or not.
    """
    launcher = _Launcher(report, budget_s * 1e9)

    def run(self: Any, *arguments: Any, grid: Any, warmup: bool, **options: Any) -> None:
        if not warmup:
            launcher.launch(self, grid, arguments, options)

    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        return launcher.call(self, *arguments, **options)

    patches: list[tuple[Any, str, Any]] = [
        (jit.JITFunction, "run", run),
        (interpreter.InterpretedFunction, "run", run),
        (interpreter.InterpretedFunction, "__call__", call),
        (autotuner.Autotuner, "_bench", lambda *_, **__: [0.0, 0.0, 0.0]),
    ]
    originals = [(owner, name, getattr(owner, name)) for owner, name, _ in patches]
    for owner, name, value in patches:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in originals:
            setattr(owner, name, value)


class _Launcher:
    """Launches kernels on tensors."""

    def __init__(self, report: Checked, budget_ns: float) -> None:
        self._report = report
        self._known: set[tuple[object, ...]] = set()
        self._language = Language()
        self._language.control.budget_ns = budget_ns

    def launch(self, kernel: Any, grid: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> None:
        import torch

        python: FunctionType = kernel.fn
        names = list(inspect.signature(python).parameters)
        given = {name: value for name, value in options.items() if name in names}
        bound = inspect.getcallargs(python, *arguments, **given)
        for hook in getattr(kernel, "pre_run_hooks", ()):
            hook(*arguments, **given)
        sides = _grid(grid(dict(options) | bound) if callable(grid) else grid)
        if 0 in sides:
            return
        buffers = _Buffers()
        constants = _constants(python)
        # A mode of the script's host may say that tensors are on a GPU.
        with torch._C.DisableTorchFunction():
            values = {n: v if n in constants else self._argument(v, n, buffers) for n, v in bound.items()}
            self._run(self._language.function(python), values, launching.order(sides), buffers)

    def call(self, function: Any, *arguments: Any, **options: Any) -> Any:
        """A function of the device that kernels reach in some other way than by name."""
        return self._language.function(function.fn)(*arguments, **options)

    def _run(self, function: Function, values: dict[str, Any], order: launching.Order, buffers: _Buffers) -> None:
        recorder, counters = Recorder(), Counters(in_waves=False)
        shadow, builder = Shadow(recorder, []), self._language.builder
        watchers: list[memory.Watcher] = [shadow, counters]
        builder.memory = memory.Memory(buffers.all, recorder, watchers, foreign=buffers.foreign)
        flops = builder.matrix_flops.total()
        recorder.begin_launch(0, order.grid)

        def begin(number: int) -> None:
            recorder.begin_program(number)
            shadow.begin_program(number)

        function.refresh()
        try:
            launching.launch(self._language, function, values, order, begin_program=begin)
        except faults.AssertionFailed as error:
            raise KernelFailed(f"{_place(error)}an assertion failed: {error}") from error
        except MemoryError:
            raise
        except Exception as error:
            why = f"{_place(error)}{_shown(error)}"
            self._report.obstacles.append(why)
            raise NeedsDevice(why) from error
        finally:
            self._add(function, order, buffers, recorder, counters)
            self._report.matrix_flops += builder.matrix_flops.total() - flops

    def _add(
        self, function: Function, order: launching.Order, buffers: _Buffers, recorder: Recorder, counters: Counters
    ) -> None:
        report = self._report
        report.launches += 1
        report.programs += len(order)
        report.read_bytes += counters.read_bytes
        report.written_bytes += counters.written_bytes
        report.atomics += counters.atomics
        plan = plan_pb2.LaunchPlan(kernels=[plan_pb2.Kernel(name=function.__name__)])
        plan.buffers.extend(
            plan_pb2.Buffer(name=name, size_bytes=buffer.size)
            for name, buffer in zip(buffers.names, buffers.all, strict=True)
        )
        grid = plan_pb2.Extent(x=order.grid[0], y=order.grid[1], z=order.grid[2])
        plan.operations.add(launch=plan_pb2.Launch(grid=grid))
        wording = Wording(plan, None)
        found = [wording.describe(raw) for raw in recorder.findings]
        new = [finding for finding in found if self._is_new(finding)]
        if new:
            report.findings += new[: MAX_FINDINGS - len(report.findings)]

    def _is_new(self, finding: compiler_pb2.Finding) -> bool:
        """Whether no launch before had a fault of this kind at this line."""
        key = (finding.kind, finding.location, finding.buffer)
        known = key in self._known
        self._known.add(key)
        return not known

    def _argument(self, value: Any, name: str, buffers: _Buffers) -> Any:
        """As Triton's binder takes it: tensors are addresses, 1 and None constants, numbers of 32 or 64 bits."""
        if hasattr(value, "data_ptr"):
            type_ = tl.str_to_ty(jit.mangle_type(value), None)
            return launching.pointer(buffers.address(value, name), type_)
        if isinstance(value, tuple):
            made = [self._argument(element, f"{name}[{i}]", buffers) for i, element in enumerate(value)]
            return type(value)(*made) if hasattr(value, "_fields") else tuple(made)
        if isinstance(value, TensorDescriptor):
            return self._descriptor(value, name, buffers)
        if isinstance(value, bool) or (isinstance(value, int | float) and not (type(value) is int and value == 1)):
            return constant(value, tl.str_to_ty(jit.mangle_type(value), None))
        return self._language.translate(value)

    def _descriptor(self, value: TensorDescriptor, name: str, buffers: _Buffers) -> Any:
        semantic = self._language.semantic
        return semantic.make_tensor_descriptor(
            self._argument(value.base, name, buffers),
            [constant(int(size), tl.int32) for size in value.shape],
            [*(constant(int(stride), tl.int64) for stride in value.strides[:-1]), tl.constexpr(1)],
            [tl.constexpr(size) for size in value.block_shape],
            value.padding,
        )


class _Buffers:
    """The storages of a launch's tensors."""

    def __init__(self) -> None:
        self.all: list[memory.Buffer] = []
        self.names: list[str] = []
        self._by_address: dict[int, memory.Buffer] = {}
        # Those that kernels see where they are.
        self._adopted: list[memory.Buffer] = []

    def address(self, value: Any, name: str) -> int:
        """Where a tensor's first element lies, as the kernel sees it; ValueError for one that is not on the CPU."""
        import torch

        tensor = value.base if isinstance(value, jit.TensorWrapper) else value
        if not isinstance(tensor, torch.Tensor):
            return self._of_stand_in(int(tensor.data_ptr()), name)
        if tensor.device.type != "cpu":
            raise ValueError(
                f"failed to interpret a launch: {name!r} is on {tensor.device}; only CPU tensors can be read"
            )
        storage = tensor.untyped_storage()
        return self._within(int(storage.data_ptr()), int(storage.nbytes()), int(tensor.data_ptr()), name)

    def _of_stand_in(self, address: int, name: str) -> int:
        """For an object that has an address like a tensor and is none."""
        storage = _storage_at(address)
        if storage is None:
            raise ValueError(f"failed to interpret a launch: {name!r} is in no tensor's memory")
        return self._within(*storage, address, name)

    def _within(self, start: int, size: int, address: int, name: str) -> int:
        if start not in self._by_address or not size:
            self._by_address[start] = self._add(start, size, name)
        return self._by_address[start].base + address - start

    def foreign(self, address: int) -> memory.Buffer | None:
        """The storage of some tensor of the script's, for a kernel that was given its address as a number."""
        for buffer in self._adopted:
            if buffer.base <= address < buffer.end:
                return buffer
        storage = _storage_at(address)
        if storage is None:
            return None
        start, size = storage
        self._adopted.append(self._add(start, size, "a tensor that was given by its address", base=start))
        return self._adopted[-1]

    def _add(self, start: int, size: int, name: str, base: int | None = None) -> memory.Buffer:
        data = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(start)) if size else np.zeros(0, np.uint8)
        buffer = memory.Buffer(len(self.all), data, base)
        self.all.append(buffer)
        self.names.append(name)
        return buffer


def _storage_at(address: int) -> tuple[int, int] | None:
    """Start and size of the storage, of all tensors that live, in which an address lies."""
    import torch

    for found in gc.get_objects():
        if type(found) in (torch.Tensor, torch.nn.Parameter) and found.device.type == "cpu":
            storage = found.untyped_storage()
            start, size = int(storage.data_ptr()), int(storage.nbytes())
            if start <= address < start + size:
                return start, size
    return None


def _constants(function: FunctionType) -> set[str]:
    """The parameters that are annotated as constants, plainly or as text."""
    return {name for name, annotation in function.__annotations__.items() if "constexpr" in str(annotation)}


def _grid(grid: Any) -> launching.Grid:
    sides = [int(side) for side in (grid if isinstance(grid, tuple | list) else [grid])]
    if len(sides) > 3:
        raise ValueError(f"failed to launch a kernel: its grid {sides} has more than 3 sides")
    x, y, z = [*sides, 1, 1, 1][:3]
    return x, y, z


def _shown(error: Exception) -> str:
    if isinstance(error, faults.TooMuchWork):
        return f"{error} would take too long to interpret"
    return str(error) if isinstance(error, NotImplementedError) else f"{type(error).__name__}: {error}"


def _place(error: Exception) -> str:
    file, line = faults.line_of_error(error.__traceback__)
    return f"{file}:{line}: " if file else ""
