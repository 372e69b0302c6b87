"""Caching, joining and queueing around a verifier."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from kernelvault import errors
from kernelvault.admission import Admission
from kernelvault.v1 import artifact_pb2, compiler_pb2, kernel_pb2
from svc_compiler.actions import Work
from svc_compiler.verify.verifier import CachingVerifier, JoiningVerifier, Progress, QueueingVerifier, Report, is_kept

Stages = compiler_pb2.VerifyCandidateResponse


def work(name: str = "a" * 64, fresh: bool = False) -> Work:
    return Work(compiler_pb2.VerifyAction(), kernel_pb2.Task(), artifact_pb2.Digest(hash=name, size_bytes=1), fresh)


class Gated:
    """A verifier that waits for a gate and counts what happened to its runs."""

    def __init__(self, verdict: Report.Verdict = Report.PASSED) -> None:
        self.gate = asyncio.Event()
        self.started = self.cancelled = 0
        self.verdict = verdict

    async def verify(self, work: Work, progress: Progress) -> Report:
        self.started += 1
        progress(Stages.COMPILING)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return Report(action_digest=work.digest, verdict=self.verdict)


@dataclasses.dataclass
class Memory:
    """Results in a dictionary."""

    reports: dict[str, Report] = dataclasses.field(default_factory=dict)

    async def get(self, digest: artifact_pb2.Digest) -> Report | None:
        return self.reports.get(digest.hash)

    async def put(self, report: Report) -> None:
        self.reports[report.action_digest.hash] = report


def ignore(stage: object) -> None:
    """A caller that does not care for stages."""


async def test_equal_actions_are_one_run() -> None:
    """Two callers of one action share a run, and both see its stages."""
    base = Gated()
    joining = JoiningVerifier(base)
    seen: list[list[int]] = [[], []]
    calls = [asyncio.create_task(joining.verify(work(), stages.append)) for stages in seen]
    await asyncio.sleep(0.01)
    base.gate.set()
    reports = await asyncio.gather(*calls)
    assert base.started == 1
    assert reports[0] == reports[1]
    assert seen == [[Stages.COMPILING], [Stages.COMPILING]]


async def test_run_lives_until_its_last_caller_is_gone() -> None:
    """One caller of two may leave; when both have left the work is cancelled."""
    base = Gated()
    joining = JoiningVerifier(base)
    first, second = (asyncio.create_task(joining.verify(work(), ignore)) for _ in range(2))
    await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.wait([first])
    assert base.cancelled == 0
    second.cancel()
    await asyncio.wait([second])
    assert base.cancelled == 1


async def test_ended_run_is_forgotten() -> None:
    """A later call of an action that ended is a new run."""
    base = Gated()
    base.gate.set()
    joining = JoiningVerifier(base)
    await joining.verify(work(), ignore)
    await joining.verify(work(), ignore)
    assert base.started == 2


async def test_failure_of_the_platform_reaches_every_caller() -> None:
    """An error of the base is raised to all who joined, and the next call starts anew."""

    class Broken:
        async def verify(self, work: Work, progress: Progress) -> Report:
            await asyncio.sleep(0.01)
            raise errors.Unavailable("NO_DISK", "no disk")

    joining = JoiningVerifier(Broken())
    results = await asyncio.gather(*(joining.verify(work(), ignore) for _ in range(2)), return_exceptions=True)
    assert [type(result) for result in results] == [errors.Unavailable] * 2


@pytest.mark.parametrize(
    "verdict", [Report.PASSED, Report.REJECTED, Report.MISMATCHED, Report.UNSAFE, Report.COMPILE_FAILED]
)
async def test_settled_verdict_is_answered_from_the_cache(verdict: Report.Verdict) -> None:
    """The second call gets the kept report, marked as cached."""
    base = Gated(verdict)
    base.gate.set()
    caching = CachingVerifier(base, Memory(), is_kept)
    assert not (await caching.verify(work(), ignore)).cached
    assert (await caching.verify(work(), ignore)).cached
    assert base.started == 1


@pytest.mark.parametrize("verdict", [Report.TIMED_OUT, Report.CRASHED, Report.NEEDS_DEVICE])
async def test_moody_verdict_is_never_cached(verdict: Report.Verdict) -> None:
    """What may end otherwise on another day runs again."""
    base = Gated(verdict)
    base.gate.set()
    memory = Memory()
    caching = CachingVerifier(base, memory, is_kept)
    await caching.verify(work(), ignore)
    assert memory.reports == {}


async def test_fresh_work_ignores_the_cache() -> None:
    """Work that asks for no look-up runs, and what it finds is kept."""
    base = Gated()
    base.gate.set()
    caching = CachingVerifier(base, Memory(), is_kept)
    await caching.verify(work(), ignore)
    assert not (await caching.verify(work(fresh=True), ignore)).cached
    assert base.started == 2


async def test_full_queue_says_when_to_come_back() -> None:
    """One more than running and waiting is UNAVAILABLE with a delay; a freed place is given away again."""
    base = Gated()
    queueing = QueueingVerifier(base, Admission("verifications", workers=1, queue_size=1), Stages.QUEUED)
    calls = [asyncio.create_task(queueing.verify(work(str(i)), ignore)) for i in range(2)]
    await asyncio.sleep(0.01)
    with pytest.raises(errors.Unavailable) as caught:
        await queueing.verify(work("2"), ignore)
    assert (caught.value.reason, caught.value.retry_after_s > 0) == ("QUEUE_FULL", True)
    assert base.started == 1
    base.gate.set()
    await asyncio.gather(*calls)
    assert (await queueing.verify(work("2"), ignore)).verdict == Report.PASSED
