"""CPU seconds of one verification: one target, five cases, cold cache, warm service.

A vector add in both formats of HIP, a row softmax in Triton.

usage: python benchmarks/verify.py [REPEATS]     (services must be up: `kernelvault up`)

A salt makes each action new. Counted are the compiler service and its children, all stages but the reference, whose
outputs are cached by content. Prints the median of the repeats and the CPU seconds of each stage.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import statistics
import sys
import time
from pathlib import Path

from kernelvault import Client, digest
from kernelvault.v1 import compiler_pb2, kernel_pb2
from orchestrator.state import State

ADD = b"""
import torch

class Model(torch.nn.Module):
    def forward(self, a, b):
        return a + b

def get_inputs(n=1000):
    return [torch.randn(n), torch.randn(n)]

def get_init_inputs():
    return []

def get_cases():
    return [{"id": f"n{n}", "n": n} for n in (1, 63, 1000, 4096, 10007)]
"""
SOFTMAX = b"""
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)

def get_inputs(rows=8, columns=1000):
    return [torch.randn(rows, columns)]

def get_init_inputs():
    return []

def get_cases():
    return [{"id": f"n{n}", "columns": n} for n in (1, 63, 1000, 1024, 4096)]
"""
KERNEL = b"""
__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
"""
HIP_ABI = (
    b"#include <hip/hip_runtime.h>\n"
    + KERNEL
    + b"""
extern "C" void run(const float* a, const float* b, int64_t a_0, int64_t b_0, float* out, hipStream_t stream) {
    add<<<(a_0 + 255) / 256, 256, 0, stream>>>(a, b, out, a_0);
}
"""
)
HIP_TORCH = (
    b"#include <torch/extension.h>\n#include <hip/hip_runtime.h>\n"
    + KERNEL
    + b"""
torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
    a = a.contiguous(), b = b.contiguous();
    auto out = torch::empty_like(a);
    add<<<(a.numel() + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), a.numel());
    return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
)
TRITON = b"""import torch
import triton
import triton.language as tl

@triton.jit
def softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * columns + at, e / tl.sum(e, axis=0), mask=at < columns)

def module_fn(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    softmax[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out
"""


@dataclasses.dataclass(frozen=True)
class Bench:
    """A candidate, its task's reference, and the CPU seconds that it may take."""

    name: str
    reference: bytes
    path: str
    source: bytes
    bar: float


BENCHES = (
    Bench("hip-abi", ADD, "add.hip", HIP_ABI, 2.5),
    Bench("hip-torch", ADD, "add.hip", HIP_TORCH, 5.0),
    Bench("triton", SOFTMAX, "softmax.py", TRITON, 3.0),
)


def own_cpu_seconds(pid: int) -> float:
    """User and system time of one process, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def main(repeats: int) -> None:
    """Verifies `repeats` times in each format and prints what it cost."""
    pid = State.open().records()["compiler"].pid
    async with Client() as client:
        print(f"{'format':<10} {'CPU s':>6} {'bar':>5} {'wall s':>7}  CPU s by stage")
        for bench in BENCHES:
            task = kernel_pb2.Task(title="bench", reference=digest.artifact("reference.py", bench.reference))
            task = await client.create_task((await client.prepare_task(task)).task)
            runs = [await verify(client, task.name, bench, pid) for _ in range(repeats + 1)][1:]
            cpu, wall, stages = runs[len(runs) // 2]
            cpu, wall = (statistics.median(run[index] for run in runs) for index in (0, 1))
            listed = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in stages.items())
            print(f"{bench.name:<10} {cpu:>6.2f} {bench.bar:>5} {wall:>7.2f}  {listed}")


async def verify(client: Client, task: str, bench: Bench, pid: int) -> tuple[float, float, dict[str, float]]:
    """One verification: CPU seconds in all, wall-clock seconds, CPU seconds by stage."""
    source = digest.artifact(bench.path, bench.source)
    action = compiler_pb2.VerifyAction(sources=[source], task=task, targets=["gfx942"], salt=os.urandom(8).hex())
    before, started = own_cpu_seconds(pid), time.monotonic()
    report = await client.verify(action)
    wall, own = time.monotonic() - started, own_cpu_seconds(pid) - before
    if report.verdict != compiler_pb2.VerificationReport.PASSED:
        name = compiler_pb2.VerificationReport.Verdict.Name(report.verdict)
        sys.exit(f"{bench.name}: {name}: {report.explanation}")
    stages = {stage.stage: stage.cpu_time.ToNanoseconds() / 1e9 for stage in report.execution_metadata.stages}
    stages.pop("reference", None)
    stages["service"] = own
    return sum(stages.values()), wall, stages


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if sys.argv[1:] else 5))
