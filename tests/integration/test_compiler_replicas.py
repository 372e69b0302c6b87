"""Two compilers behind one client: a verification outlives the compiler that it began on."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator

import pytest

from kernelvault import client
from kernelvault.v1 import compiler_pb2
from tests.compiler import Compiler, environment_of
from tests.corpus import Corpus
from tests.services import Service

REFERENCE = """
import torch

class Model(torch.nn.Module):
    def forward(self, a):
        return a * 2

def get_inputs(n=1000):
    return [torch.randn(n)]

def get_init_inputs():
    return []
"""
SOURCE = """#include <hip/hip_runtime.h>
__global__ void twice(const float* a, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = a[i] * 2;
}
extern "C" void run(const float* a, int64_t n, float* out, hipStream_t stream) {
    twice<<<(n + 255) / 256, 256, 0, stream>>>(a, out, n);
}
"""
CANDIDATES = 8


@pytest.fixture
def compilers(corpus_service: Service) -> Iterator[tuple[Service, Service]]:
    """Two compilers of one corpus."""
    environment = environment_of(corpus_service)
    with Service("svc_compiler", environment) as first, Service("svc_compiler", environment) as second:
        yield first, second


def _terminate(service: Service) -> None:
    service.process.send_signal(signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("end", [Service.kill, _terminate])
async def test_no_verification_is_lost_with_its_compiler(
    compilers: tuple[Service, Service], corpus: Corpus, end: Callable[[Service], None]
) -> None:
    """One of two ends while both verify: every candidate gets its report, in one call each."""
    reports = []
    address = f"ipv4:{compilers[0].address},{compilers[1].address}"
    async with client.channel(address) as channel:
        compiler = Compiler(channel, compilers[0], corpus)
        task = await compiler.prepare(REFERENCE, "twice")

        async def verify(number: int) -> None:
            reports.append(await compiler.verify(task, SOURCE, salt=f"{end.__name__} {number}", timeout_s=400))
            if len(reports) == 1:
                await asyncio.to_thread(end, compilers[0])

        await asyncio.gather(*(verify(number) for number in range(CANDIDATES)))

    passed = compiler_pb2.VerificationReport.PASSED
    assert [report.verdict for report in reports] == [passed] * CANDIDATES
