"""A profiler service under test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernelvault import client
from kernelvault.v1 import profiler_pb2, profiler_pb2_grpc
from tests.services import Service


@pytest.fixture(scope="module")
def profiler(corpus_service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """`python -m svc_profiler` with a cache of its own."""
    settings = {
        "KERNELVAULT_ADDRESS": "127.0.0.1:0",
        "KERNELVAULT_CORPUS_ADDRESS": corpus_service.address,
        "KERNELVAULT_CACHE_DIR": str(tmp_path_factory.mktemp("profiler")),
    }
    with Service("svc_profiler", settings) as service:
        yield service


async def profiled(service: Service, **fields: object) -> tuple[list[int], profiler_pb2.Profile]:
    """The stages and the profile of a call."""
    request = profiler_pb2.ProfileCandidateRequest(**fields)
    async with client.channel(service.address) as channel:
        stub = profiler_pb2_grpc.ProfilerStub(channel)
        answers = [answer async for answer in client.stream(stub.ProfileCandidate, request, timeout_s=60)]
    return [answer.stage for answer in answers[:-1]], answers[-1].profile
