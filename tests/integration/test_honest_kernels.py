"""Kernels as experts and language models write them for MI300X, right and wrong, and the verdict on each."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kernelvault import client, digest
from kernelvault.v1 import compiler_pb2, compiler_pb2_grpc, corpus_pb2, kernel_pb2
from tests import honest
from tests.corpus import Corpus
from tests.services import Service

Report = compiler_pb2.VerificationReport
PREFIX = os.environ.get("KERNELVAULT_TOOLCHAIN", str(Path("~/.cache/kernelvault/toolchain").expanduser()))
QUICK = ["argmax", "axpy", "max_all"]


@pytest.fixture(scope="module")
def compiler_service(corpus_service: Service) -> Iterator[Service]:
    """A compiler for all tests of this module."""
    environment = {
        "KERNELVAULT_CORPUS_ADDRESS": corpus_service.address,
        "KERNELVAULT_ADDRESS": "127.0.0.1:0",
        "KERNELVAULT_TOOLCHAIN": PREFIX,
        "KERNELVAULT_CASE_SECRET": "a secret of the tests",
    }
    with Service("svc_compiler", environment) as service:
        yield service


class Judge:
    """Prepares a reference and verifies sources for it."""

    def __init__(self, stub: compiler_pb2_grpc.CompilerStub, corpus: Corpus) -> None:
        self._stub, self._corpus = stub, corpus

    async def prepare(self, reference: str) -> kernel_pb2.Task:
        """A stored task."""
        contents = (honest.FOLDER / f"{reference}.py").read_bytes()
        task = kernel_pb2.Task(title=reference, reference=digest.artifact("reference.py", contents))
        request = compiler_pb2.PrepareTaskRequest(task=task)
        prepared = await client.call(self._stub.PrepareTask, request, timeout_s=150)
        stored = await self._corpus.call("CreateTask", corpus_pb2.CreateTaskRequest(task=prepared.task))
        assert isinstance(stored, kernel_pb2.Task)
        return stored

    async def verify(self, task: kernel_pb2.Task, source: str) -> tuple[str, str]:
        """The verdict and its explanation."""
        sources = [digest.artifact("kernel.hip", source.encode())]
        action = compiler_pb2.VerifyAction(sources=sources, task=task.name, targets=["gfx942"])
        request = compiler_pb2.VerifyCandidateRequest(action=action)
        updates = [u async for u in client.stream(self._stub.VerifyCandidate, request, timeout_s=170)]
        report = updates[-1].report
        return Report.Verdict.Name(report.verdict), report.explanation


@pytest.fixture
async def judge(compiler_service: Service, corpus: Corpus) -> AsyncIterator[Judge]:
    """The module's compiler, called from this test's event loop."""
    async with client.channel(compiler_service.address) as channel:
        yield Judge(compiler_pb2_grpc.CompilerStub(channel), corpus)


@pytest.mark.parametrize(
    "reference", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in honest.references()]
)
async def test_verdicts(judge: Judge, reference: str) -> None:
    """An honest kernel is PASSED; one with a usual mistake gets the verdict and the words that help its author."""
    task = await judge.prepare(reference)
    sources = honest.kernels(reference)
    mutants = {what: m for what, m in honest.MUTANTS.items() if m.kernel in sources}
    sources |= {what: honest.mutated(mutant) for what, mutant in mutants.items()}
    found = dict(zip(sources, await asyncio.gather(*(judge.verify(task, s) for s in sources.values())), strict=True))
    for what, mutant in mutants.items():
        verdict, explanation = found.pop(what)
        assert verdict in mutant.verdict.split("|"), (what, explanation)
        assert any(word in explanation.lower() for word in mutant.words.split("|")), (what, explanation)
    assert found == dict.fromkeys(found, ("PASSED", ""))
