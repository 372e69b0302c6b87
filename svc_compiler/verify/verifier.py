"""The one interface of verification, and the decorators that stand around the real one."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from kernelvault.admission import Admission
from kernelvault.joining import Joined
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
        self._admission = Admission("verifications", workers=workers, queue_size=queue_size, seconds_each=2.0)

    async def verify(self, work: Work, progress: Progress) -> Report:
        """Raises Unavailable if the queue is full."""
        async with self._admission.turn(lambda: progress(compiler_pb2.VerifyCandidateResponse.QUEUED)):
            return await self._base.verify(work, progress)


class JoiningVerifier:
    """Equal actions that run at the same time are one run; it is cancelled when its last caller is gone."""

    def __init__(self, base: Verifier) -> None:
        self._base = base
        self._runs: dict[tuple[str, bool], _Run] = {}

    async def verify(self, work: Work, progress: Progress) -> Report:
        """Raises what the base raises, to every caller."""
        key = (work.digest.hash, work.fresh)
        run = self._runs.get(key)
        if run is None or run.joined.ended:
            run = self._runs[key] = _Run(self._base, work)
        try:
            report = Report()
            report.CopyFrom(await run.join(progress))
            return report
        finally:
            if run.joined.ended and self._runs.get(key) is run:
                del self._runs[key]


class _Run:
    """One run, and those who hear of its stages."""

    def __init__(self, base: Verifier, work: Work) -> None:
        self._listeners: list[Progress] = []
        self._stage: Stage | None = None
        # A context of its own: the work must not inherit the deadline of the caller that happened to be first.
        self.joined = Joined(base.verify(work, self._progress), context=contextvars.Context())

    def _progress(self, stage: Stage) -> None:
        self._stage = stage
        for listener in self._listeners:
            listener(stage)

    async def join(self, progress: Progress) -> Report:
        self._listeners.append(progress)
        if self._stage is not None:
            progress(self._stage)
        try:
            return await self.joined.join()
        finally:
            self._listeners.remove(progress)
