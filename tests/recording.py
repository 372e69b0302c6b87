"""A candidate's way to its launch plan, for tests: the real compiler, the real sandbox, the real recorder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelvault.replay import bundle
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import compiler_pb2, kernel_pb2, plan_pb2
from svc_compiler.hip.gpu import compile_gpu
from svc_compiler.hip.host import build_host
from svc_compiler.hip.record import record
from svc_compiler.hip.toolchain import Toolchain
from svc_compiler.refusal import Refused

PREFIX = Path(os.environ.get("KERNELVAULT_TOOLCHAIN", "~/.cache/kernelvault/toolchain"))
ABI = kernel_pb2.Candidate.HIP_ABI
TORCH = kernel_pb2.Candidate.HIP_TORCH
TARGET = "gfx942"
RUNTIME = "#include <hip/hip_runtime.h>\n"
EXTENSION = "#include <torch/extension.h>\n"
ADD = """
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""
# The launcher's parameters for two vectors and an output.
SIGNATURE = "const float* a, const float* b, int64_t n, int64_t, float* c, hipStream_t stream"
LAUNCH = "add<<<(n + 255) / 256, 256, 0, stream>>>(a, b, c, n);"


def launcher(body: str, before: str = "") -> str:
    """A hip-abi source with `add` and a launcher of this body."""
    return f'{RUNTIME}{ADD}{before}\nextern "C" void run({SIGNATURE}) {{\n{body}\n}}\n'


def tensor(name: str, dims: Sequence[int], dtype: str = "float32", strides: Sequence[int] = ()) -> kernel_pb2.Parameter:
    """A tensor of a case; contiguous unless `strides` are given."""
    view = bundle.contiguous_view(dtype, dims)
    if strides:
        view = kernel_pb2.TensorView(dtype=dtype, dims=dims, strides=strides)
    return kernel_pb2.Parameter(name=name, tensor=view)


def vectors(count: int = 1000, dtype: str = "float32") -> kernel_pb2.Case:
    """Two vectors in, one out."""
    return kernel_pb2.Case(
        id="vectors",
        parameters=[tensor("a", [count], dtype), tensor("b", [count], dtype)],
        outputs=[tensor("out", [count], dtype)],
    )


@dataclass(frozen=True)
class Recordings:
    """Makes plans of sources."""

    sandbox: Sandbox
    toolchain: Toolchain
    folder: Path

    async def plan(
        self,
        source: str,
        case: kernel_pb2.Case | None = None,
        format: kernel_pb2.Candidate.Format = ABI,
        *,
        entry_point: str = "",
        padding: Mapping[str, Sequence[int]] | None = None,
        timeout_s: float = 10,
        **options: Any,
    ) -> plan_pb2.LaunchPlan:
        """The plan of a source for a case, two vectors unless told."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "main.hip").write_text(source)
        gpu = await compile_gpu(self.sandbox, self.toolchain, folder, "main.hip", TARGET)
        assert gpu.code_object, gpu.build.diagnostics
        host = await build_host(self.sandbox, self.toolchain, folder, "main.hip", format)
        case = vectors() if case is None else case
        return await record(
            self.sandbox, host, case, gpu.layouts, padding or {}, entry_point, timeout_s, target=TARGET, **options
        )

    async def refusal(self, source: str, *arguments: Any, **options: Any) -> Refused:
        """How a source ends that gets no plan."""
        try:
            plan = await self.plan(source, *arguments, **options)
        except Refused as refused:
            return refused
        raise AssertionError(f"the source was recorded:\n{plan}")


def verdict(refused: Refused) -> str:
    """The verdict's name."""
    return compiler_pb2.VerificationReport.Verdict.Name(refused.verdict)


def kinds(plan: plan_pb2.LaunchPlan) -> list[str]:
    """What the operations are, in order."""
    return [str(operation.WhichOneof("operation")) for operation in plan.operations]


def pointers(plan: plan_pb2.LaunchPlan, operation: int = 0) -> list[tuple[int, str, int]]:
    """The pointers in a launch's arguments: where, to which buffer, at which offset."""
    launch = plan.operations[operation].launch
    return [(r.at, plan.buffers[r.buffer].name, r.offset) for r in launch.relocations]
