"""A compiler service under test, called in few words."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelvault import client, digest
from kernelvault.v1 import compiler_pb2, compiler_pb2_grpc, corpus_pb2, kernel_pb2
from tests.corpus import Corpus
from tests.services import Service

Report = compiler_pb2.VerificationReport
PREFIX = os.environ.get("KERNELVAULT_TOOLCHAIN", str(Path("~/.cache/kernelvault/toolchain").expanduser()))


class Compiler:
    """A short way to call the compiler."""

    def __init__(self, channel: Any, service: Service, corpus: Corpus) -> None:
        self.stub = compiler_pb2_grpc.CompilerStub(channel)
        self.service = service
        self.corpus = corpus

    async def prepare(self, reference: str, title: str = "add") -> kernel_pb2.Task:
        """A stored task."""
        task = kernel_pb2.Task(title=title, reference=digest.artifact("reference.py", reference.encode()))
        request = compiler_pb2.PrepareTaskRequest(task=task)
        prepared = await client.call(self.stub.PrepareTask, request, timeout_s=120)
        stored = await self.corpus.call("CreateTask", corpus_pb2.CreateTaskRequest(task=prepared.task))
        assert isinstance(stored, kernel_pb2.Task)
        return stored

    async def verify(
        self, task: kernel_pb2.Task, source: str, *, fresh: bool = False, timeout_s: float = 150, **fields: Any
    ) -> Report:
        """The report on a source."""
        action = compiler_pb2.VerifyAction(
            **{
                "sources": [digest.artifact("kernel.hip" if "#include" in source else "kernel.py", source.encode())],
                "task": task.name,
                "targets": ["gfx942"],
                **fields,
            }
        )
        request = compiler_pb2.VerifyCandidateRequest(action=action, skip_cache_lookup=fresh)
        updates = [u async for u in client.stream(self.stub.VerifyCandidate, request, timeout_s=timeout_s)]
        report = updates[-1].report
        assert isinstance(report, Report)
        return report


def environment_of(corpus_service: Service) -> dict[str, str]:
    """What a compiler beside that corpus is told: the usual tool chain, and a cache that later runs share."""
    return {
        "KERNELVAULT_CORPUS_ADDRESS": corpus_service.address,
        "KERNELVAULT_ADDRESS": "127.0.0.1:0",
        "KERNELVAULT_TOOLCHAIN": PREFIX,
        "KERNELVAULT_CASE_SECRET": "a secret of the tests",
        "KERNELVAULT_QUEUE_SIZE": "2",
    }


@pytest.fixture(scope="module")
def compiler_service(corpus_service: Service) -> Iterator[Service]:
    """A compiler of its own for a module of tests."""
    with Service("svc_compiler", environment_of(corpus_service)) as service:
        yield service


@pytest.fixture
async def compiler(compiler_service: Service, corpus: Corpus) -> AsyncIterator[Compiler]:
    """The module's compiler, called from this test's event loop."""
    async with client.channel(compiler_service.address) as channel:
        yield Compiler(channel, compiler_service, corpus)
