"""The one interface of verification, and the decorators that stand around the real one."""

from __future__ import annotations

import contextvars
import copy
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar

from kernelvault.admission import Admission
from kernelvault.joining import Joined
from kernelvault.v1 import artifact_pb2, compiler_pb2

Report = compiler_pb2.VerificationReport
ScriptReport = compiler_pb2.ScriptReport
# Hears the stages of the call's response.
Progress = Callable[[Any], None]

# What depends on the machine's mood is never answered from the cache.
CACHED_VERDICTS = frozenset(
    {Report.PASSED, Report.REJECTED, Report.COMPILE_FAILED, Report.MISMATCHED, Report.UNSAFE},
)


class Work(Protocol):
    """What is to be done, named by a digest of all that its report depends on."""

    @property
    def digest(self) -> artifact_pb2.Digest:
        """Equal digests have equal reports."""

    @property
    def fresh(self) -> bool:
        """Whether earlier reports are not looked at."""


WorkT = TypeVar("WorkT", bound=Work)
WorkT_contra = TypeVar("WorkT_contra", bound=Work, contravariant=True)
ReportT = TypeVar("ReportT", bound=compiler_pb2.VerificationReport | compiler_pb2.ScriptReport)
ReportT_co = TypeVar("ReportT_co", bound=compiler_pb2.VerificationReport | compiler_pb2.ScriptReport, covariant=True)


class Verifier(Protocol[WorkT_contra, ReportT_co]):
    """Turns work into a report. Bad foreign code is a report; errors.Error means that the platform failed."""

    def verify(self, work: WorkT_contra, progress: Progress) -> Coroutine[Any, Any, ReportT_co]:
        """Runs all stages, calling `progress` as each begins; cancelling it kills what it started."""


class Results(Protocol[ReportT]):
    """Where reports are kept by the digest of their action."""

    async def get(self, digest: artifact_pb2.Digest) -> ReportT | None:
        """The report for an action; None if there is none."""

    async def put(self, report: ReportT) -> None:
        """Keeps a report; returns once it is durable."""


def is_kept(report: Report) -> bool:
    """Whether a candidate's report depends on the candidate alone."""
    owners = (Report.FAULT_OWNER_UNSPECIFIED, Report.CANDIDATE)
    return report.verdict in CACHED_VERDICTS and report.fault_owner in owners


class CachingVerifier(Generic[WorkT, ReportT]):
    """Answers from earlier results, and keeps those new ones that `keeps` likes."""

    def __init__(
        self, base: Verifier[WorkT, ReportT], results: Results[ReportT], keeps: Callable[[ReportT], bool]
    ) -> None:
        self._base = base
        self._results = results
        self._keeps = keeps

    async def verify(self, work: WorkT, progress: Progress) -> ReportT:
        """Raises what the base and the store of results raise."""
        known = None if work.fresh else await self._results.get(work.digest)
        if known is not None:
            known.cached = True
            return known
        report = await self._base.verify(work, progress)
        if self._keeps(report):
            await self._results.put(report)
        return report


class QueueingVerifier(Generic[WorkT, ReportT]):
    """Bounds how much runs and how much waits; one more is UNAVAILABLE, with the time to try again.

    `queued` is the stage that the progress hears of while the work waits.
    """

    def __init__(self, base: Verifier[WorkT, ReportT], admission: Admission, queued: object) -> None:
        self._base = base
        self._admission = admission
        self._queued = queued

    async def verify(self, work: WorkT, progress: Progress) -> ReportT:
        """Raises Unavailable if the queue is full."""
        async with self._admission.turn(lambda: progress(self._queued)):
            return await self._base.verify(work, progress)


class JoiningVerifier(Generic[WorkT, ReportT]):
    """Equal actions that run at the same time are one run; it is cancelled when its last caller is gone."""

    def __init__(self, base: Verifier[WorkT, ReportT]) -> None:
        self._base = base
        self._runs: dict[tuple[str, bool], _Run[ReportT]] = {}

    async def verify(self, work: WorkT, progress: Progress) -> ReportT:
        """Raises what the base raises, to every caller."""
        key = (work.digest.hash, work.fresh)
        run = self._runs.get(key)
        if run is None or run.joined.ended:
            run = self._runs[key] = _Run(lambda heard: self._base.verify(work, heard))
        try:
            return copy.deepcopy(await run.join(progress))
        finally:
            if run.joined.ended and self._runs.get(key) is run:
                del self._runs[key]


class _Run(Generic[ReportT]):
    """One run, and those who hear of its stages."""

    def __init__(self, start: Callable[[Progress], Coroutine[Any, Any, ReportT]]) -> None:
        self._listeners: list[Progress] = []
        self._stage: object = None
        # A context of its own: the work must not inherit the deadline of the caller that happened to be first.
        self.joined = Joined(start(self._progress), context=contextvars.Context())

    def _progress(self, stage: object) -> None:
        self._stage = stage
        for listener in self._listeners:
            listener(stage)

    async def join(self, progress: Progress) -> ReportT:
        self._listeners.append(progress)
        if self._stage is not None:
            progress(self._stage)
        try:
            return await self.joined.join()
        finally:
            self._listeners.remove(progress)
