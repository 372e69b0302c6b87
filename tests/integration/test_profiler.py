"""The profiler as a real process, beside a real corpus, on a plan of real code."""

from __future__ import annotations

import os
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from kernelvault import digest, errors
from kernelvault.blobs import Blobs
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import (
    artifact_pb2,
    compiler_pb2,
    corpus_pb2,
    kernel_pb2,
    plan_pb2,
    profiler_pb2,
    storage_pb2,
)
from svc_compiler.hip.gpu import compile_gpu
from svc_compiler.hip.image import build_image, compile_device
from svc_compiler.hip.toolchain import Toolchain
from tests import triton_programs
from tests.corpus import Corpus
from tests.profiler import profiled
from tests.services import Service

PREFIX = Path(os.environ.get("KERNELVAULT_TOOLCHAIN", "~/.cache/kernelvault/toolchain"))
Report = compiler_pb2.VerificationReport
Request = profiler_pb2.ProfileCandidateRequest
Stages = profiler_pb2.ProfileCandidateResponse
COUNT = 1 << 20
SOURCE = """#include <hip/hip_runtime.h>
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
__global__ void scatter(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = (i % 1024) * 1024 + i / 1024;
    if (j < n) c[j] = a[j] + b[j];
}
__global__ void idle(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (n > 100000 ? 64 : n)) c[i] = a[i] + b[i];
}
__global__ void choosy(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (a[i] < 0) __builtin_trap();
    c[i] = a[i] + b[i];
}
"""
REFERENCE = f"""
import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return a + b


def get_inputs():
    return [torch.rand({COUNT}), torch.randn({COUNT})]


def get_init_inputs():
    return []
"""


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A bare sandbox."""
    started = await Sandbox.start()
    yield started
    await started.close()


def tensor(name: str) -> kernel_pb2.Parameter:
    """A contiguous vector."""
    return kernel_pb2.Parameter(name=name, tensor=kernel_pb2.TensorView(dtype="float32", dims=[COUNT], strides=[1]))


def case() -> kernel_pb2.Case:
    """The one performance case."""
    return kernel_pb2.Case(
        id="large",
        kind=kernel_pb2.Case.PERFORMANCE,
        distribution=kernel_pb2.Case.GIVEN,
        arguments_json="{}",
        parameters=[tensor("a"), tensor("b")],
        outputs=[tensor("output0")],
    )


Verified = Callable[[str, str], Awaitable[artifact_pb2.Digest]]


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> Toolchain:
    """With a cache that the tests of this module share."""
    return Toolchain.find(PREFIX, tmp_path_factory.mktemp("cache"))


@pytest.fixture
def verified(corpus: Corpus, sandbox: Sandbox, toolchain: Toolchain, tmp_path: Path) -> Verified:
    """Stores a task, an image and a PASSED report of a kernel for a target; returns the action's digest."""
    return lambda kernel, target: _verify(corpus, sandbox, toolchain, tmp_path, kernel=kernel, target=target)


async def _verify(
    corpus: Corpus, sandbox: Sandbox, toolchain: Toolchain, folder: Path, *, kernel: str, target: str
) -> artifact_pb2.Digest:
    (folder / "sources").mkdir()
    (folder / "sources" / "main.hip").write_text(SOURCE)
    built = await compile_gpu(sandbox, toolchain, folder / "sources", "main.hip", target)
    module = await compile_device(sandbox, toolchain, folder / "sources", "main.hip", target=target)
    image = await build_image(sandbox, toolchain, folder / "sources", module, built.layouts)
    blob = await Blobs(corpus.channel, folder / "blobs").put(image.image.read_bytes())
    symbol = next(name for name in built.layouts if kernel in name)
    images = [
        plan_pb2.Image(target=target, symbol=symbol, resources=built.resources[symbol], layout=built.layouts[symbol]),
        plan_pb2.Image(target="cpu", symbol=symbol, code_object=blob, layout=built.layouts[symbol]),
    ]
    size = 4 * COUNT
    buffers = [
        plan_pb2.Buffer(size_bytes=size, role=plan_pb2.Buffer.INPUT, position=0, name="a"),
        plan_pb2.Buffer(size_bytes=size, role=plan_pb2.Buffer.INPUT, position=1, name="b"),
        plan_pb2.Buffer(size_bytes=size, role=plan_pb2.Buffer.OUTPUT, position=0, name="c"),
    ]
    launch = plan_pb2.Launch(
        grid=plan_pb2.Extent(x=COUNT // 256, y=1, z=1),
        block=plan_pb2.Extent(x=256, y=1, z=1),
        arguments=bytes(24) + struct.pack("<i", COUNT),
        relocations=[plan_pb2.Relocation(at=8 * i, buffer=i) for i in range(3)],
    )
    plan = plan_pb2.LaunchPlan(
        case_id="large",
        buffers=buffers,
        kernels=[plan_pb2.Kernel(name=symbol, display_name=kernel, images=images)],
        operations=[plan_pb2.Operation(phase=plan_pb2.Operation.CALL, launch=launch)],
        results=[plan_pb2.Result(buffer=2, view=tensor("c").tensor)],
    )
    task = kernel_pb2.Task(title="add", reference=digest.artifact("model.py", REFERENCE.encode()), cases=[case()])
    task = await corpus.call("CreateTask", corpus_pb2.CreateTaskRequest(task=task))
    return await stored(corpus, Report(verdict=Report.PASSED, task=task.name, plans=[plan]), f"{kernel} {target}")


TRITON = """
def {kernel}(a, b, c, n, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if {scattered}:
        place = (place % 1024) * 1024 + place // 1024
    tl.store(c + place, tl.load(a + place, mask=place < n) + tl.load(b + place, mask=place < n), mask=place < n)
"""


async def verified_triton(corpus: Corpus, folder: Path, *, scattered: bool) -> artifact_pb2.Digest:
    """As `verified`, a Triton kernel with the resources that it would have."""
    kernel = "scatter_triton" if scattered else "add_triton"
    types: dict[str, object] = {"a": "*fp32", "b": "*fp32", "c": "*fp32", "n": "i32", "BLOCK": [1024]}
    program = triton_programs.program(TRITON.format(kernel=kernel, scattered=scattered), kernel, types, num_warps=4)
    blob = await Blobs(corpus.channel, folder / "blobs").put(program.SerializeToString())
    resources = plan_pb2.Resources(vgprs=24, sgprs=32, max_block_threads=256, wave_size=64, occupancy_waves=8)
    images = [
        plan_pb2.Image(target="gfx942", symbol=kernel, resources=resources, block_threads=256),
        plan_pb2.Image(target="cpu", symbol=program.variants[0].name, code_object=blob),
    ]
    launch = plan_pb2.Launch(
        grid=plan_pb2.Extent(x=COUNT // 1024, y=1, z=1),
        arguments=bytes(24) + struct.pack("<i", COUNT),
        relocations=[plan_pb2.Relocation(at=8 * i, buffer=i) for i in range(3)],
    )
    roles = [plan_pb2.Buffer.INPUT, plan_pb2.Buffer.INPUT, plan_pb2.Buffer.OUTPUT]
    buffers = [
        plan_pb2.Buffer(size_bytes=4 * COUNT, role=role, position=position, name=name)
        for role, position, name in zip(roles, (0, 1, 0), "abc", strict=True)
    ]
    plan = plan_pb2.LaunchPlan(
        case_id="large",
        buffers=buffers,
        kernels=[plan_pb2.Kernel(name=program.variants[0].name, display_name=kernel, images=images)],
        operations=[plan_pb2.Operation(phase=plan_pb2.Operation.CALL, launch=launch)],
        results=[plan_pb2.Result(buffer=2, view=tensor("c").tensor)],
    )
    task = kernel_pb2.Task(title="add", reference=digest.artifact("model.py", REFERENCE.encode()), cases=[case()])
    task = await corpus.call("CreateTask", corpus_pb2.CreateTaskRequest(task=task))
    return await stored(corpus, Report(verdict=Report.PASSED, task=task.name, plans=[plan]), kernel)


async def stored(corpus: Corpus, report: compiler_pb2.VerificationReport, name: str) -> artifact_pb2.Digest:
    """Puts a report into the action cache."""
    action = digest.of_bytes(name.encode())
    report.action_digest.CopyFrom(action)
    result = storage_pb2.ActionResult(action_digest=action, report=report)
    await corpus.call("UpdateActionResult", storage_pb2.UpdateActionResultRequest(action_result=result))
    return action


@pytest.mark.slow
async def test_a_stream_is_modelled(profiler: Service, verified: Verified) -> None:
    """An addition of a million floats moves 12 MB, all coalesced, and is bound by memory or by its launch."""
    action = await verified("add", "gfx942")
    stages, profile = await profiled(profiler, verify_action_digest=action, device="MI300X", method=Request.MODEL)
    [kernel] = profile.cases[0].kernels
    counters = kernel.counters
    assert stages == [Stages.QUEUED, Stages.PREPARING, Stages.MEASURING]
    assert (profile.method_label, profile.device, profile.verify_action_digest) == ("cpu-model", "MI300X", action)
    assert (counters.global_read_bytes, counters.global_write_bytes) == (8 * COUNT, 4 * COUNT)
    assert (counters.coalescing, counters.unique_bytes, counters.blocks) == (1.0, 12 * COUNT, COUNT // 256)
    assert profile.cases[0].floor_ns == pytest.approx(12 * COUNT / 5.3e12 * 1e9)
    assert profile.cases[0].floor_ns < profile.time_ns < 20_000
    assert "not measured" in profile.advice


@pytest.mark.slow
async def test_scattered_access_is_named(profiler: Service, verified: Verified) -> None:
    """Lanes 4 KiB apart touch a segment each: a sixteenth of it is used, and the advice says so."""
    action = await verified("scatter", "gfx942")
    _, profile = await profiled(profiler, verify_action_digest=action, device="MI325X", method=Request.MODEL)
    [kernel] = profile.cases[0].kernels
    assert kernel.counters.coalescing == pytest.approx(1 / 16)
    assert "coalescing is 6%" in profile.advice


@pytest.mark.slow
async def test_work_that_is_left_out_earns_no_time(profiler: Service, verified: Verified) -> None:
    """A kernel that writes little of the outputs, at a size that nobody compares, has no profile."""
    action = await verified("idle", "gfx942")
    with pytest.raises(errors.FailedPrecondition) as caught:
        await profiled(profiler, verify_action_digest=action, device="MI300X", method=Request.MODEL)
    assert caught.value.reason == "NOT_MODELLED"
    assert f"bytes in all, and the outputs hold {4 * COUNT}" in str(caught.value)


async def test_triton_is_modelled(profiler: Service, corpus: Corpus, tmp_path: Path) -> None:
    """A Triton kernel's accesses are counted by interpretation; the model is the same."""
    action = await verified_triton(corpus, tmp_path, scattered=False)
    _, profile = await profiled(profiler, verify_action_digest=action, device="MI300X", method=Request.MODEL)
    [kernel] = profile.cases[0].kernels
    counters = kernel.counters
    assert (counters.global_read_bytes, counters.global_write_bytes) == (8 * COUNT, 4 * COUNT)
    assert (counters.coalescing, counters.unique_bytes, counters.blocks) == (1.0, 12 * COUNT, COUNT // 1024)
    assert profile.cases[0].floor_ns < profile.time_ns < 20_000
    scattered = await verified_triton(corpus, tmp_path, scattered=True)
    _, other = await profiled(profiler, verify_action_digest=scattered, device="MI300X", method=Request.MODEL)
    assert other.cases[0].kernels[0].counters.coalescing == pytest.approx(1 / 16)
    assert "coalescing is 6%" in other.advice


@pytest.mark.slow
async def test_values_are_drawn_where_they_matter(profiler: Service, verified: Verified) -> None:
    """A kernel that ends itself at values which the task never gives is counted on the task's own."""
    action = await verified("choosy", "gfx942")
    _, profile = await profiled(profiler, verify_action_digest=action, device="MI300X")
    assert profile.cases[0].kernels[0].counters.global_write_bytes == 4 * COUNT
    assert {stage.stage for stage in profile.execution_metadata.stages} == {"inputs", "replay"}


@pytest.mark.slow
async def test_another_device_needs_its_target(profiler: Service, verified: Verified) -> None:
    """A candidate that was compiled for gfx950 only has no resources on an MI300X."""
    action = await verified("add", "gfx950")
    with pytest.raises(errors.FailedPrecondition, match="verify it for gfx942") as raised:
        await profiled(profiler, verify_action_digest=action, device="MI300X")
    assert raised.value.reason == "TARGET_NOT_BUILT"
    _, profile = await profiled(profiler, verify_action_digest=action, device="MI355X")
    assert profile.device == "MI355X"


@pytest.mark.slow
async def test_an_earlier_profile_is_kept(profiler: Service, verified: Verified) -> None:
    """Within max_age the same profile comes back, without stages."""
    action = await verified("add", "gfx942")
    wanted = {"verify_action_digest": action, "device": "MI300X"}
    _, first = await profiled(profiler, **wanted)
    request = Request(max_age={"seconds": 600})
    stages, second = await profiled(profiler, **wanted, max_age=request.max_age)
    assert (stages, second) == ([], first)


async def test_unknown_reports_are_not_found(profiler: Service) -> None:
    """There is nothing to profile before a verification."""
    with pytest.raises(errors.NotFound, match="verify the candidate first"):
        await profiled(profiler, verify_action_digest=digest.of_bytes(b"never"), device="MI300X")


async def test_bad_requests_name_the_field(profiler: Service) -> None:
    """An unknown device, a missing digest, a method that needs a GPU."""
    known = digest.of_bytes(b"never")
    for fields, field in (
        ({"verify_action_digest": known, "device": "H100"}, "device"),
        ({"device": "MI300X"}, "verify_action_digest"),
        ({"verify_action_digest": known, "device": "MI300X", "method": Request.TIMING}, "method"),
    ):
        with pytest.raises(errors.InvalidArgument) as raised:
            await profiled(profiler, **fields)
        assert raised.value.field == field


async def test_a_failed_candidate_has_no_profile(corpus: Corpus, profiler: Service) -> None:
    """The verdict must be PASSED."""
    action = await stored(corpus, Report(verdict=Report.MISMATCHED, task="tasks/t"), "mismatched")
    with pytest.raises(errors.FailedPrecondition) as raised:
        await profiled(profiler, verify_action_digest=action, device="MI300X")
    assert raised.value.reason == "NOT_PASSED"


async def test_a_data_dependent_plan_has_no_profile(corpus: Corpus, profiler: Service) -> None:
    """Such a plan holds for the inputs it was recorded with only."""
    plan = plan_pb2.LaunchPlan(case_id="large", data_dependent=True)
    action = await stored(corpus, Report(verdict=Report.PASSED, task="tasks/t", plans=[plan]), "dependent")
    with pytest.raises(errors.FailedPrecondition) as raised:
        await profiled(profiler, verify_action_digest=action, device="MI300X")
    assert raised.value.reason == "DATA_DEPENDENT"
