"""What is compiled for a HIP candidate: in which order, and whose word counts where it fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelvault import digest
from kernelvault.sandbox import Job, Outcome
from kernelvault.sandbox.metering import MeteredSandbox
from kernelvault.v1 import artifact_pb2, compiler_pb2, kernel_pb2
from svc_compiler.actions import Work
from svc_compiler.config import CompilerConfig
from svc_compiler.hip.toolchain import Toolchain
from svc_compiler.refusal import Refused
from svc_compiler.verify.build import HipBuilder
from tests.compiler import PREFIX

SOURCE = """
#include <hip/hip_runtime.h>
__global__ void fill(float* out) { out[threadIdx.x] = 1; }
extern "C" void run(float* out, hipStream_t stream) { fill<<<1, 64, 0, stream>>>(out); }
"""
Report = compiler_pb2.VerificationReport


class Watched(MeteredSandbox):
    """Notes which compilers run when another one ends."""

    def __init__(self, preload: tuple[str, ...] = ()) -> None:
        super().__init__(preload)
        self._running: set[str] = set()
        self.met: set[frozenset[str]] = set()
        self.programs: list[str] = []

    async def run(self, job: Job) -> Outcome:
        """As in the base."""
        name = _pass_of(job)
        self.programs.append(name)
        self._running.add(name)
        try:
            return await super().run(job)
        finally:
            self.met |= {frozenset((name, other)) for other in self._running - {name}}
            self._running.discard(name)


def _pass_of(job: Job) -> str:
    """A name for what a job does: the file that it makes, and for whom."""
    words = list(job.argv)
    made = words[words.index("-o") + 1] if "-o" in words else Path(words[0]).name
    return f"{made} for the GPU" if made == "it.ii" and "--offload-device-only" in words else made


class _Digests:
    """Stands where code objects are stored."""

    async def put(self, data: bytes) -> artifact_pb2.Digest:
        return digest.of_bytes(data)


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    """With the cache that services share."""
    return Toolchain.find(Path(PREFIX), CompilerConfig().cache_dir)


@pytest.fixture
async def watched() -> AsyncIterator[Watched]:
    """A bare sandbox that is watched."""
    sandbox = await Watched.start()
    yield sandbox
    await sandbox.close()


def write(folder: Path, source: str) -> None:
    """Lays a source where the passes find it."""
    folder.mkdir()
    (folder / "main.hip").write_text(source)


async def build(sandbox: MeteredSandbox, toolchain: Toolchain, folder: Path, source: str) -> Report:
    """Builds `source` for two targets and gives the draft of its report; raises what the builder raises."""
    write(folder, source)
    action = compiler_pb2.VerifyAction(
        sources=[artifact_pb2.Artifact(path="main.hip")],
        language=kernel_pb2.Candidate.HIP,
        format=kernel_pb2.Candidate.HIP_ABI,
        targets=["gfx90a", "gfx942"],
    )
    draft = Report()
    builder = HipBuilder(sandbox, toolchain, _Digests())  # type: ignore[arg-type]
    await builder.build(Work(action, kernel_pb2.Task(), artifact_pb2.Digest()), folder, draft)
    return draft


async def test_passes_run_side_by_side_and_once(watched: Watched, toolchain: Toolchain, tmp_path: Path) -> None:
    """The GPU pass, the host pass and the CPU model's pass wait for none of the others; none of them runs twice."""
    await build(watched, toolchain, tmp_path / "warm", SOURCE)
    watched.met.clear()
    watched.programs.clear()

    draft = await build(watched, toolchain, tmp_path / "it", SOURCE)

    assert [one.target for one in draft.builds] == ["gfx90a", "gfx942"]
    assert {frozenset(("kernels.co", "host.o")), frozenset(("kernels.co", "it.ii"))} <= watched.met
    per_target = ["kernels.co", "llvm-readelf", "llvm-objdump"]
    once = ["host.o", "host.so", "it.ii", "it.ii for the GPU", "device.ll", "image.o", "image.so"]
    assert sorted(watched.programs) == sorted([*per_target, *per_target, *once])


async def test_the_gpu_pass_has_the_first_word(watched: Watched, toolchain: Toolchain, tmp_path: Path) -> None:
    """Where all passes fail, the report is of the GPU pass."""
    with pytest.raises(Refused) as caught:
        await build(watched, toolchain, tmp_path / "it", SOURCE.replace("= 1;", "= one;"))

    assert caught.value.verdict == Report.COMPILE_FAILED
    assert "main.hip:3:" in caught.value.explanation
    assert "[gfx90a]" in caught.value.explanation
