"""The one interface of verification, and the decorators that stand around the real one."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from kernelvault import errors
from kernelvault.v1 import artifact_pb2, compiler_pb2
from svc_compiler.actions import Work

Report = compiler_pb2.VerificationReport
Stage = compiler_pb2.VerifyCandidateResponse.Stage
Progress = Callable[[Stage], None]

# What depends on the machine's mood is never answered from the cache.
CACHED_VERDICTS = frozenset(
    {Report.PASSED, Report.REJECTED, Report.COMPILE_FAILED, Report.MISMATCHED, Report.UNSAFE},
)


class Verifier(Protocol):
    """Turns work into a report. A bad candidate is a report; errors.Error means that the platform failed."""

    def verify(self, work: Work, progress: Progress) -> Coroutine[Any, Any, Report]:
        """Runs all stages, calling `progress` as each begins; cancelling it kills what it started."""


class Results(Protocol):
    """Where reports are kept by the digest of their action."""

    async def get(self, digest: artifact_pb2.Digest) -> Report | None:
        """The report for an action; None if there is none."""

    async def put(self, report: Report) -> None:
        """Keeps a report; returns once it is durable."""


class CachingVerifier:
    """Answers from earlier results, and keeps new ones."""

    def __init__(self, base: Verifier, results: Results) -> None:
        self._base = base
        self._results = results

    async def verify(self, work: Work, progress: Progress) -> Report:
        """Raises what the base and the store of results raise."""
        known = None if work.fresh else await self._results.get(work.digest)
        if known is not None:
            known.cached = True
            return known
        report = await self._base.verify(work, progress)
        if report.verdict in CACHED_VERDICTS and report.fault_owner in (
            Report.FAULT_OWNER_UNSPECIFIED,
            Report.CANDIDATE,
        ):
            await self._results.put(report)
        return report


class QueueingVerifier:
    """Bounds how much runs and how much waits; one more is UNAVAILABLE, with the time to try again."""

    def __init__(self, base: Verifier, *, workers: int, queue_size: int) -> None:
        self._base = base
        self._slots = asyncio.Semaphore(workers)
        self._capacity = workers + queue_size
        self._workers = workers
        self._held = 0

    async def verify(self, work: Work, progress: Progress) -> Report:
        """Raises Unavailable if the queue is full."""
        if self._held >= self._capacity:
            wait_s = min(30.0, 1.0 + 2.0 * self._held / self._workers)
            raise errors.Unavailable("QUEUE_FULL", f"{self._held} verifications are running or waiting", wait_s)
        self._held += 1
        try:
            progress(compiler_pb2.VerifyCandidateResponse.QUEUED)
            async with self._slots:
                return await self._base.verify(work, progress)
        finally:
            self._held -= 1


class JoiningVerifier:
    """Equal actions that run at the same time are one run; it is cancelled when its last caller is gone."""

    def __init__(self, base: Verifier) -> None:
        self._base = base
        self._runs: dict[tuple[str, bool], _Run] = {}

    async def verify(self, work: Work, progress: Progress) -> Report:
        """Raises what the base raises, to every caller."""
        key = (work.digest.hash, work.fresh)
        run = self._runs.get(key)
        if run is None:
            run = self._runs[key] = _Run()
            run.start(self._base.verify(work, run.progress))
        try:
            report = Report()
            report.CopyFrom(await run.join(progress))
            return report
        finally:
            if run.ended() and self._runs.get(key) is run:
                del self._runs[key]


class _Run:
    """One run and those who wait for it."""

    def __init__(self) -> None:
        self._listeners: list[Progress] = []
        self._stage: Stage | None = None
        self._task: asyncio.Task[Report] | None = None

    def start(self, work: Coroutine[Any, Any, Report]) -> None:
        # A context of its own: the work must not inherit the deadline of the caller that happened to be first.
        self._task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())

    def progress(self, stage: Stage) -> None:
        self._stage = stage
        for listener in self._listeners:
            listener(stage)

    async def join(self, progress: Progress) -> Report:
        assert self._task is not None
        self._listeners.append(progress)
        if self._stage is not None:
            progress(self._stage)
        try:
            return await asyncio.shield(self._task)
        finally:
            self._listeners.remove(progress)
            if not self._listeners and not self._task.done():
                self._task.cancel()
                await asyncio.wait([self._task])

    def ended(self) -> bool:
        return not self._listeners or (self._task is not None and self._task.done())
