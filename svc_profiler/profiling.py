"""From a request to a profile: checks, earlier results, the queue, the device."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable
from typing import Protocol

from google.protobuf import duration_pb2

from kernelvault import digest, errors
from kernelvault.admission import Admission
from kernelvault.devices import Gpu
from kernelvault.sandbox.metering import metered, stage_times
from kernelvault.v1 import artifact_pb2, compiler_pb2, kernel_pb2, profiler_pb2

Report = compiler_pb2.VerificationReport
Stages = profiler_pb2.ProfileCandidateResponse
Progress = Callable[[profiler_pb2.ProfileCandidateResponse.Stage], None]
# Goes into the key of a profile: change it with every change of the formulas.
MODEL_VERSION = "3"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ask:
    """A checked request."""

    verify_digest: artifact_pb2.Digest
    gpu: Gpu
    max_age: duration_pb2.Duration | None

    def key(self) -> artifact_pb2.Digest:
        """The digest of the profile's own action: verification, device, method and its version."""
        fields = (self.verify_digest.hash, self.gpu.name, "model", MODEL_VERSION)
        return digest.of_bytes("\n".join(fields).encode())


class Profiler(Protocol):
    """Makes a profile; raises errors.Error where that fails."""

    async def profile(self, ask: Ask, progress: Progress) -> profiler_pb2.Profile:
        """Calls `progress` as each stage begins; cancelling it kills what it started."""


class Store(Protocol):
    """Reports, tasks and profiles; see `corpus.Corpus`."""

    async def report(self, digest: artifact_pb2.Digest) -> compiler_pb2.VerificationReport:
        """Raises errors.NotFound."""

    async def task(self, name: str) -> kernel_pb2.Task:
        """Raises errors.NotFound."""

    async def profile(
        self, key: artifact_pb2.Digest, max_age: duration_pb2.Duration | None
    ) -> profiler_pb2.Profile | None:
        """An earlier profile."""

    async def keep(self, key: artifact_pb2.Digest, profile: profiler_pb2.Profile) -> None:
        """Stores a profile."""


class Device(Protocol):
    """What a profile is made on; see `devices.model.ModelDevice`."""

    async def profile(
        self, report: compiler_pb2.VerificationReport, task: kernel_pb2.Task, gpu: Gpu
    ) -> profiler_pb2.Profile:
        """Raises errors.FailedPrecondition."""


class DeviceProfiler:
    """Fetches what a device needs, and says when it was at work."""

    def __init__(self, store: Store, device: Device) -> None:
        self._store = store
        self._device = device

    async def profile(self, ask: Ask, progress: Progress) -> profiler_pb2.Profile:
        """Raises errors.NotFound, errors.FailedPrecondition (NOT_PASSED, DATA_DEPENDENT and the device's)."""
        progress(Stages.PREPARING)
        started = time.time_ns()
        report = await self._store.report(ask.verify_digest)
        _check(report)
        task = await self._store.task(report.task)
        progress(Stages.MEASURING)
        with metered() as meter:
            profile = await self._device.profile(report, task, ask.gpu)
        profile.verify_action_digest.CopyFrom(ask.verify_digest)
        profile.execution_metadata.worker = f"{os.uname().nodename}-{os.getpid()}"
        profile.execution_metadata.start_time.FromNanoseconds(started)
        profile.execution_metadata.end_time.FromNanoseconds(time.time_ns())
        profile.execution_metadata.stages.extend(stage_times(meter))
        return profile


class QueueingProfiler:
    """Bounds how much runs and how much waits; one more is UNAVAILABLE, with the time to try again."""

    def __init__(self, base: Profiler, *, workers: int, queue_size: int) -> None:
        self._base = base
        self._admission = Admission("profiles", workers=workers, queue_size=queue_size, seconds_each=1.0)

    async def profile(self, ask: Ask, progress: Progress) -> profiler_pb2.Profile:
        """Raises errors.Unavailable if the queue is full."""
        async with self._admission.turn(lambda: progress(Stages.QUEUED)):
            return await self._base.profile(ask, progress)


class CachingProfiler:
    """Answers from an earlier profile where the caller allows its age, and keeps new ones."""

    def __init__(self, base: Profiler, store: Store) -> None:
        self._base = base
        self._store = store

    async def profile(self, ask: Ask, progress: Progress) -> profiler_pb2.Profile:
        """Raises what the base and the store raise."""
        if ask.max_age is not None and (known := await self._store.profile(ask.key(), ask.max_age)):
            return known
        profile = await self._base.profile(ask, progress)
        await self._store.keep(ask.key(), profile)
        return profile


def _check(report: compiler_pb2.VerificationReport) -> None:
    if report.verdict != Report.PASSED:
        verdict = Report.Verdict.Name(report.verdict)
        raise errors.FailedPrecondition("NOT_PASSED", f"the verdict is {verdict}: only what passed is profiled")
    dependent = [plan.case_id for plan in report.plans if plan.data_dependent]
    if dependent:
        cases = ", ".join(dependent[:5])
        raise errors.FailedPrecondition(
            "DATA_DEPENDENT",
            f"host code acts on device data in {cases}: such a plan holds for one input and is not timed",
        )
    if not report.plans:
        raise errors.FailedPrecondition("NOT_PASSED", "the report holds no launch plan; verify the candidate again")
