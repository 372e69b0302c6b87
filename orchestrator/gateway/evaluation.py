"""Judges one kernel by the services: its task prepared, it verified, profiled, and compared with a baseline."""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

from kernelvault import Client, digest, errors
from kernelvault.v1 import artifact_pb2, compiler_pb2, kernel_pb2, profiler_pb2
from orchestrator.gateway.remembered import Remembered
from orchestrator.gateway.settings import GatewayConfig

Report = compiler_pb2.VerificationReport
_METHODS = {"model": profiler_pb2.ProfileCandidateRequest.MODEL, "timing": profiler_pb2.ProfileCandidateRequest.TIMING}
_MOST_TASKS = 65_536
_MOST_BASELINES = 16_384
# A kernel that is right and yet has no time.
_UNTIMED = ("NOT_MODELLED", "DATA_DEPENDENT")


class Order(NamedTuple):
    """What is to be judged, and for whom: results that are kept are kept for each caller."""

    task: kernel_pb2.Task
    source: artifact_pb2.Artifact
    baseline: artifact_pb2.Artifact | None
    timeout_s: float | None
    caller: str


class Prepared(NamedTuple):
    """What is remembered of a stored task."""

    name: str
    hidden: frozenset[str]


class Measured(NamedTuple):
    """A kernel's report, and its profile or why there is none."""

    report: Report
    profile: profiler_pb2.Profile | None = None
    untimed: str = ""

    @property
    def passed(self) -> bool:
        """Whether it is right."""
        return self.report.verdict == Report.PASSED


class Judgement(NamedTuple):
    """What came of an order; times in seconds."""

    task: Prepared
    candidate: Measured
    baseline: Measured | None
    timing: dict[str, float]

    @property
    def speedup(self) -> float | None:
        """The baseline's time / the candidate's; None where either is unknown or they were not measured alike."""
        mine, other = self.candidate.profile, self.baseline.profile if self.baseline else None
        if mine is None or other is None or _kind_of(mine) != _kind_of(other):
            return None
        return other.time_ns / mine.time_ns if min(mine.time_ns, other.time_ns) > 0 else None


class Evaluator:
    """Judges orders, at most `max_evaluations` at once.

    Raises errors.Error as the services do; FailedPrecondition `REFERENCE_UNFIT` where a report blames the reference,
    Unavailable where it blames the platform. A kernel that fails raises nothing.
    """

    def __init__(self, client: Client, settings: GatewayConfig) -> None:
        self._client = client
        self._settings = settings
        self._slots = asyncio.Semaphore(settings.max_evaluations)
        self._tasks: Remembered[Prepared] = Remembered(_MOST_TASKS)
        self._baselines: Remembered[Measured] = Remembered(_MOST_BASELINES)

    async def judge(self, order: Order) -> Judgement:
        """The judgement; the candidate may have any verdict."""
        async with self._slots:
            began = time.monotonic()
            key = digest.of_fields([order.caller, order.task.SerializeToString(deterministic=True)])
            task = await self._tasks.get(key, lambda: self._prepare(order.task))
            prepared = time.monotonic()
            try:
                candidate = await self._measure(task, order.source, order.timeout_s)
                measured = time.monotonic()
                baseline = await self._baseline(task, order) if order.baseline and candidate.passed else None
            except errors.NotFound:
                self._tasks.forget(key)
                raise
            ended = time.monotonic()
        return Judgement(
            task,
            candidate,
            baseline,
            {
                "prepare_s": round(prepared - began, 4),
                "evaluate_s": round(measured - prepared, 4),
                "baseline_s": round(ended - measured, 4),
                "total_s": round(ended - began, 4),
            },
        )

    async def _prepare(self, task: kernel_pb2.Task) -> Prepared:
        prepared = (await self._client.prepare_task(task)).task
        if prepared.HasField("functional"):
            await self._client.standardize_task(prepared)
        stored = await self._client.create_task(prepared)
        return Prepared(stored.name, frozenset(case.id for case in stored.cases if case.hidden))

    async def _baseline(self, task: Prepared, order: Order) -> Measured:
        source = order.baseline
        assert source is not None
        key = digest.of_fields([order.caller, task.name, source.path, source.contents, repr(order.timeout_s)])
        return await self._baselines.get(key, lambda: self._measure(task, source, order.timeout_s))

    async def _measure(self, task: Prepared, source: artifact_pb2.Artifact, timeout_s: float | None) -> Measured:
        action = compiler_pb2.VerifyAction(sources=[source], task=task.name, targets=self._settings.targets)
        if timeout_s:
            action.timeout.FromMilliseconds(max(1, int(min(timeout_s, self._settings.max_timeout_seconds) * 1000)))
        report = await self._client.verify(action)
        _check_owner(report)
        if report.verdict != Report.PASSED:
            return Measured(report)
        try:
            profile = await self._client.profile(
                report.action_digest,
                device=self._settings.device,
                method=_METHODS[self._settings.method],
                max_age_s=self._settings.profile_max_age_seconds,
            )
        except errors.FailedPrecondition as error:
            if error.reason not in _UNTIMED:
                raise
            return Measured(report, untimed=str(error))
        return Measured(report, profile)


def _check_owner(report: Report) -> None:
    """Raises where the candidate is not to blame."""
    if report.fault_owner == Report.REFERENCE:
        raise errors.FailedPrecondition("REFERENCE_UNFIT", report.explanation)
    if report.fault_owner == Report.PLATFORM:
        raise errors.Unavailable("PLATFORM_FAULT", report.explanation)


def _kind_of(profile: profiler_pb2.Profile) -> tuple[str, str, tuple[str, ...]]:
    return profile.device, profile.method_label, tuple(case.case_id for case in profile.cases)
