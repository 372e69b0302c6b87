"""Running kernels on the CPU model without a recorder: sources are compiled, plans are written by hand."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernelvault.replay import bundle, cpu_model
from kernelvault.sandbox import Sandbox, memory
from kernelvault.v1 import compiler_pb2, plan_pb2
from svc_compiler.hip import gpu, image
from svc_compiler.hip.toolchain import Toolchain
from tests.recording import TARGET

PROGRAMS = Path(__file__).parent / "programs" / "cpu_model"
Finding = compiler_pb2.Finding
Verdict = compiler_pb2.VerificationReport.Verdict
Array = np.ndarray


@dataclass(frozen=True)
class Made:
    """The buffer that an argument points to, `offset` bytes from its start."""

    name: str
    offset: int = 0


class Program:
    """A compiled HIP source and a CPU model to run it on."""

    def __init__(
        self,
        built: image.ImageBuild,
        layouts: Mapping[str, Sequence[plan_pb2.Image.ArgumentSlot]],
        model: cpu_model.CpuModel,
    ) -> None:
        self.built, self.layouts, self.model = built, layouts, model

    def symbol(self, kernel: str) -> str:
        """The one kernel whose symbol holds `kernel` as a name or, mangled, as a part."""
        found = [s for s in self.layouts if s == kernel or f"{len(kernel)}{kernel}" in s or f"I{kernel}E" in s]
        assert len(found) == 1, f"{kernel} is one of {sorted(self.layouts)}"
        return found[0]

    def plan(self, buffers: Mapping[str, Array], inputs: Sequence[str], outputs: Sequence[str]) -> Plan:
        """A plan with these buffers; those that are neither inputs nor outputs are scratch."""
        return Plan(self, buffers, list(inputs), list(outputs))


class Plan:
    """A plan in the making; arrays that are no inputs give only their size."""

    def __init__(self, program: Program, buffers: Mapping[str, Array], inputs: list[str], outputs: list[str]) -> None:
        self._program, self._buffers, self._inputs = program, dict(buffers), inputs
        self.message = plan_pb2.LaunchPlan(case_id="case")
        self._index = {name: i for i, name in enumerate(buffers)}
        for name, array in buffers.items():
            buffer = self.message.buffers.add(size_bytes=array.nbytes, role=plan_pb2.Buffer.SCRATCH, name=name)
            if name in inputs:
                buffer.role, buffer.position = plan_pb2.Buffer.INPUT, inputs.index(name)
            elif name in outputs:
                buffer.role, buffer.position = plan_pb2.Buffer.OUTPUT, outputs.index(name)
        for name in outputs:
            array = buffers[name]
            view = bundle.contiguous_view(array.dtype.name, array.shape)
            self.message.results.add(buffer=self._index[name], view=view)

    def launch(
        self,
        kernel: str,
        *arguments: Made | str | np.generic | bytes,
        grid: Sequence[int] | int = 1,
        block: Sequence[int] | int = 64,
        lds: int = 0,
    ) -> Plan:
        """Adds a launch; a string is the buffer of that name, other arguments are their bytes."""
        symbol = self._program.symbol(kernel)
        slots = self._program.layouts[symbol]
        assert len(slots) == len(arguments), f"{kernel} takes {len(slots)} arguments"
        launch = plan_pb2.Launch(kernel=self._kernel(symbol, kernel), dynamic_lds_bytes=lds)
        launch.grid.CopyFrom(_extent(grid))
        launch.block.CopyFrom(_extent(block))
        data = bytearray(max((slot.offset + slot.size for slot in slots), default=0))
        for slot, argument in zip(slots, arguments, strict=True):
            if isinstance(argument, str | Made):
                made = argument if isinstance(argument, Made) else Made(argument)
                launch.relocations.add(at=slot.offset, buffer=self._index[made.name], offset=made.offset)
            else:
                value = argument if isinstance(argument, bytes) else argument.tobytes()
                assert len(value) == slot.size, f"{kernel}: {slot.name} has {slot.size} bytes"
                data[slot.offset : slot.offset + slot.size] = value
        launch.arguments = bytes(data)
        self.message.operations.add(phase=plan_pb2.Operation.CALL, launch=launch)
        return self

    def _kernel(self, symbol: str, shown: str) -> int:
        names = [kernel.name for kernel in self.message.kernels]
        if symbol not in names:
            self.message.kernels.add(name=symbol, display_name=shown)
            names.append(symbol)
        return names.index(symbol)

    async def replay(self, tmp_path: Path, timeout_s: float = 20, **options: int) -> Outcome:
        """Runs it; the inputs are the arrays."""
        items = [item(name, self._buffers[name]) for name in self._inputs]
        path = tmp_path / "inputs.kvb"
        path.write_bytes(bundle.pack(items))
        model = self._program.model
        replay = await model.replay(self.message, self._program.built.image, path, timeout_s=timeout_s, **options)
        try:
            return Outcome(replay, [arrays(fd) for fd in replay.outputs], arrays(replay.inputs_after))
        finally:
            replay.close()


class Outcome:
    """A replay with its tensors as arrays."""

    def __init__(self, replay: cpu_model.Replay, outputs: list[list[Array]], inputs_after: list[Array]) -> None:
        self.fault, self.findings, self.counters = replay.fault, list(replay.findings), replay.counters
        self.cpu_seconds = replay.outcome.cpu_seconds
        self.repetitions, self.inputs_after = outputs, inputs_after

    @property
    def outputs(self) -> list[Array]:
        """Those of the first repetition; there must be no fault."""
        assert self.fault is None, self.fault
        return self.repetitions[0]

    def only_finding(self) -> compiler_pb2.Finding:
        """The one finding."""
        assert len(self.findings) == 1, self.findings
        return self.findings[0]


async def compile_program(
    sandbox: Sandbox, toolchain: Toolchain, folder: Path, source: Path, model: cpu_model.CpuModel
) -> Program:
    """Compiles a source for TARGET, which gives the layouts, and for the CPU model."""
    _copy(source, folder)
    made = await gpu.compile_gpu(sandbox, toolchain, folder, "kernel.hip", TARGET)
    assert made.build.compiled, made.build.diagnostics
    module = await image.compile_device(sandbox, toolchain, folder, "kernel.hip", target=TARGET)
    built = await image.build_image(sandbox, toolchain, folder, module, made.layouts)
    return Program(built, made.layouts, model)


def _copy(source: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    shutil.copy(source, folder / "kernel.hip")


def _extent(sides: Sequence[int] | int) -> plan_pb2.Extent:
    x, y, z = (*((sides,) if isinstance(sides, int) else sides), 1, 1)[:3]
    return plan_pb2.Extent(x=x, y=y, z=z)


def item(name: str, array: Array) -> bundle.Item:
    """An array for a bundle."""
    data = np.ascontiguousarray(array)
    return bundle.Item(name, bundle.contiguous_view(array.dtype.name, array.shape), memoryview(data).cast("B"))


def arrays(descriptor: int | None) -> list[Array]:
    """The tensors of a replay's bundle; none if it left none."""
    if descriptor is None:
        return []
    items = bundle.read(memory.collect(descriptor))
    return [np.array(bundle.to_numpy(item)) for item in items]
