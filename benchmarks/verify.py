"""What a verification costs, and kernels a minute by kernelvault and by torch's own path, in one run.

usage: python -m benchmarks.verify [REPEATS]     (services must be up: `kernelvault up`)

First table: CPU seconds of one verification, one target, five cases, warm service: a vector add in both formats of HIP,
a row softmax in Triton. Counted are the compiler service and its children, all stages but the reference, whose outputs
are cached by content. Prints the median of the repeats and the CPU seconds of each stage.

Second table: the ten `hip-torch` candidates in `candidates/`, for one target. kernelvault verifies them: GPU pass, host
pass with the binding, CPU image, recording, replay and comparison of five cases; REPEATS rounds before torch's turn and
as many after it, as many at once as the service has workers. torch compiles the same files: `torch_path.py` says what
of it is real. Both keep all cores busy; wall-clock time decides. A salt makes each verification new: nothing of an
earlier one is used but what does not depend on the candidate (precompiled headers, runtimes, reference outputs), which
one round makes before the clock starts; torch has nothing like it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import statistics
import sys
import time
from pathlib import Path

from benchmarks import known, torch_path
from kernelvault import Client, digest
from kernelvault.v1 import artifact_pb2, compiler_pb2
from orchestrator.state import State

TARGET = "gfx942"
# CPU seconds to compile a candidate for one target: the median.
COMPILE_BAR = 1.5
SERVICES = ("compiler", "corpus", "s3")
COMPILE_STAGES = ("gpu compile", "host compile", "cpu image")
# Kernels a minute, kernelvault's by torch's.
SPEED_BAR = 30.0

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
    """Measures and prints both tables."""
    async with Client() as client:
        await print_costs(client, repeats)
        await print_speeds(client, repeats)


async def print_costs(client: Client, repeats: int) -> None:
    """The first table."""
    pid = State.open().records()["compiler"].pid
    print(f"{'format':<10} {'CPU s':>6} {'bar':>5} {'wall s':>7}  CPU s by stage")
    for bench in BENCHES:
        task = await known.task(client, bench.reference)
        source = digest.artifact(bench.path, bench.source)
        runs = [await cost(client, task, source, pid) for _ in range(repeats + 1)][1:]
        _, _, stages = runs[len(runs) // 2]
        cpu, wall = statistics.median(run[0] for run in runs), statistics.median(run[1] for run in runs)
        listed = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in stages.items())
        print(f"{bench.name:<10} {cpu:>6.2f} {bench.bar:>5} {wall:>7.2f}  {listed}", flush=True)


async def print_speeds(client: Client, rounds: int) -> None:
    """The second table."""
    candidates = known.all_known()
    tasks = {one.name: await known.task(client, one.reference) for one in candidates}
    await verify_all(client, candidates, tasks)
    runs = [await verify_all(client, candidates, tasks) for _ in range(rounds)]
    theirs = await asyncio.to_thread(torch_path.compile_all, [one.source for one in candidates], TARGET)
    runs += [await verify_all(client, candidates, tasks) for _ in range(rounds)]
    print(f"\n{'CPU s':<14} {'kernelvault':>11} {'of it compile':>14} {'torch, compile':>15}")
    compiles: list[float] = []
    for index, one in enumerate(candidates):
        totals, compiled = zip(*(run.cpu_seconds[index] for run in runs), strict=True)
        compiles += compiled
        columns = (statistics.median(totals), statistics.median(compiled), theirs.cpu_seconds[index])
        print(f"{one.name:<14} {columns[0]:>11.2f} {columns[1]:>14.2f} {columns[2]:>15.1f}")
    ours = 60 * len(runs) * len(candidates) / sum(run.wall_seconds for run in runs)
    others = 60 * len(candidates) / theirs.wall_seconds
    own = statistics.mean(run.service_seconds for run in runs) / len(candidates)
    mean = own + statistics.mean(sum(cpu for cpu, _ in run.cpu_seconds) for run in runs) / len(candidates)
    torch_mean = statistics.mean(theirs.cpu_seconds)
    print(f"{'mean':<14} {mean:>11.2f} {'':>14} {torch_mean:>15.1f}   kernelvault's with {own:.2f} of its services")
    print(f"kernels a minute: kernelvault verified {ours:.0f}, torch compiled {others:.2f}: {ours / others:.0f} times")
    print(f"by CPU seconds, which other work on the machine changes less: {torch_mean / mean:.0f} times")
    print(
        f"bar: {SPEED_BAR:.0f} times; load average {os.getloadavg()[1]:.1f} over five minutes, {os.cpu_count()} cores"
    )
    print(f"median compile: {statistics.median(compiles):.2f} CPU s for {TARGET}, bar {COMPILE_BAR}")


@dataclasses.dataclass(frozen=True)
class Round:
    """All candidates verified once."""

    wall_seconds: float
    # In all and of its compile stages, for each candidate, the services themselves left out.
    cpu_seconds: list[tuple[float, float]]
    # Of the compiler, the corpus and its store.
    service_seconds: float


async def verify_all(client: Client, candidates: list[known.Known], tasks: dict[str, str]) -> Round:
    """Verifies all candidates at once; the service runs as many as it has workers."""

    async def one(candidate: known.Known) -> tuple[float, float]:
        stages = stages_of(await passed(client, tasks[candidate.name], candidate.artifact))
        return sum(stages.values()), sum(stages[name] for name in COMPILE_STAGES)

    records = State.open().records()
    pids = [records[name].pid for name in SERVICES if name in records]
    before, started = sum(map(own_cpu_seconds, pids)), time.monotonic()
    costs = await asyncio.gather(*map(one, candidates))
    return Round(time.monotonic() - started, costs, sum(map(own_cpu_seconds, pids)) - before)


async def cost(
    client: Client, task: str, source: artifact_pb2.Artifact, pid: int
) -> tuple[float, float, dict[str, float]]:
    """One verification: CPU seconds in all, wall-clock seconds, CPU seconds by stage."""
    before, started = own_cpu_seconds(pid), time.monotonic()
    report = await passed(client, task, source)
    wall, own = time.monotonic() - started, own_cpu_seconds(pid) - before
    stages = {**stages_of(report), "service": own}
    return sum(stages.values()), wall, stages


async def passed(client: Client, task: str, source: artifact_pb2.Artifact) -> compiler_pb2.VerificationReport:
    """The report of a new verification, which must pass."""
    action = compiler_pb2.VerifyAction(sources=[source], task=task, targets=[TARGET], salt=os.urandom(8).hex())
    report = await client.verify(action)
    if report.verdict != compiler_pb2.VerificationReport.PASSED:
        name = compiler_pb2.VerificationReport.Verdict.Name(report.verdict)
        sys.exit(f"{source.path}: {name}: {report.explanation}")
    return report


def stages_of(report: compiler_pb2.VerificationReport) -> dict[str, float]:
    """CPU seconds by stage, without the reference."""
    stages = {stage.stage: stage.cpu_time.ToNanoseconds() / 1e9 for stage in report.execution_metadata.stages}
    stages.pop("reference", None)
    return stages


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if sys.argv[1:] else 5))
