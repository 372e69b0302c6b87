"""Recording with execution, for tests: the real compiler, recorder and CPU model."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernelvault.replay import bundle
from kernelvault.replay import plan as plans
from kernelvault.replay.cpu_model import CpuModel
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import kernel_pb2, plan_pb2
from svc_compiler.hip.gpu import compile_gpu
from svc_compiler.hip.host import build_host
from svc_compiler.hip.image import build_image, compile_device
from svc_compiler.hip.record import record
from svc_compiler.hip.toolchain import Toolchain
from svc_compiler.refusal import Refused
from svc_compiler.verify.execution import Execution
from tests.cpu_model import arrays, item
from tests.recording import ABI, TARGET, tensor

Array = np.ndarray


@dataclass(frozen=True)
class Executed:
    """A plan that was recorded with execution, and what it gives."""

    plan: plan_pb2.LaunchPlan
    outputs: list[Array]
    # How many replays answered copies from the device.
    answers: int


@dataclass(frozen=True)
class Executions:
    """Records sources with execution, then replays their plans."""

    sandbox: Sandbox
    toolchain: Toolchain
    folder: Path

    async def run(
        self,
        source: str,
        inputs: Mapping[str, Array],
        output: tuple[int, ...],
        format: kernel_pb2.Candidate.Format = ABI,
        timeout_s: float = 20,
    ) -> Executed:
        """What a source of one float32 output does with these inputs; raises Refused."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "main.hip").write_text(source)
        gpu = await compile_gpu(self.sandbox, self.toolchain, folder, "main.hip", TARGET)
        assert gpu.code_object, gpu.build.diagnostics
        host = await build_host(self.sandbox, self.toolchain, folder, "main.hip", format)
        module = await compile_device(self.sandbox, self.toolchain, folder, "main.hip", target=TARGET)
        image = await build_image(self.sandbox, self.toolchain, folder, module, gpu.layouts)
        parameters = [tensor(name, array.shape, array.dtype.name) for name, array in inputs.items()]
        case = kernel_pb2.Case(id="case", parameters=parameters, outputs=[tensor("out", output)])
        (folder / "inputs").write_bytes(bundle.pack([item(name, array) for name, array in inputs.items()]))
        asked: list[plan_pb2.LaunchPlan] = []

        async def given() -> Path:
            return folder / "inputs"

        execution = Execution(CpuModel(self.sandbox), given, timeout_s)

        async def oracle(plan: plan_pb2.LaunchPlan) -> bytes:
            asked.append(plan)
            return await execution.answer(plan, image.image)

        plan = await record(
            self.sandbox, host, case, gpu.layouts, image.padding, "", timeout_s, target=TARGET, oracle=oracle
        )
        plans.check(plan)
        replay = await CpuModel(self.sandbox).replay(plan, image.image, folder / "inputs", timeout_s=timeout_s)
        assert replay.fault is None, replay.fault
        outputs = arrays(replay.outputs[0])
        replay.close()
        return Executed(plan, outputs, len(asked))

    async def refusal(
        self,
        source: str,
        inputs: Mapping[str, Array],
        output: tuple[int, ...],
        format: kernel_pb2.Candidate.Format = ABI,
        timeout_s: float = 20,
    ) -> Refused:
        """How a source ends that gets no plan."""
        try:
            executed = await self.run(source, inputs, output, format, timeout_s)
        except Refused as refused:
            return refused
        raise AssertionError(f"the source was recorded:\n{executed.plan}")
