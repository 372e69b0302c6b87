"""What stands around a device: checks, earlier profiles, the queue."""

from __future__ import annotations

import asyncio

import pytest
from google.protobuf import duration_pb2

from kernelvault import devices, digest, errors
from kernelvault.v1 import artifact_pb2, compiler_pb2, kernel_pb2, plan_pb2, profiler_pb2
from svc_profiler import profiling
from svc_profiler.profiling import Ask, CachingProfiler, DeviceProfiler, QueueingProfiler

Report = compiler_pb2.VerificationReport
Stages = profiler_pb2.ProfileCandidateResponse
VERIFIED = digest.of_bytes(b"action")


def ask(device: str = "MI300X", max_age_s: int | None = None) -> Ask:
    """A request."""
    age = None if max_age_s is None else duration_pb2.Duration(seconds=max_age_s)
    return Ask(verify_digest=VERIFIED, gpu=devices.of(device), max_age=age)


class Memory:
    """A store that holds one report, one task and what is kept."""

    def __init__(self, report: compiler_pb2.VerificationReport) -> None:
        self._report = report
        self.kept: dict[str, profiler_pb2.Profile] = {}

    async def report(self, digest: artifact_pb2.Digest) -> compiler_pb2.VerificationReport:
        """The report."""
        return self._report

    async def task(self, name: str) -> kernel_pb2.Task:
        """A task of that name."""
        return kernel_pb2.Task(name=name)

    async def profile(
        self, key: artifact_pb2.Digest, max_age: duration_pb2.Duration | None
    ) -> profiler_pb2.Profile | None:
        """What was kept."""
        return self.kept.get(key.hash)

    async def keep(self, key: artifact_pb2.Digest, profile: profiler_pb2.Profile) -> None:
        """Keeps it."""
        self.kept[key.hash] = profile


class Counting:
    """A device that counts its work and can be held up."""

    def __init__(self) -> None:
        self.made = 0
        self.go = asyncio.Event()
        self.go.set()

    async def profile(
        self, report: compiler_pb2.VerificationReport, task: kernel_pb2.Task, gpu: devices.Gpu
    ) -> profiler_pb2.Profile:
        """A profile for the task."""
        await self.go.wait()
        self.made += 1
        return profiler_pb2.Profile(device=gpu.name, time_ns=self.made)


def passed(**changes: object) -> compiler_pb2.VerificationReport:
    """A report that can be profiled."""
    return Report(verdict=Report.PASSED, task="tasks/t", plans=[plan_pb2.LaunchPlan(case_id="c")], **changes)


async def test_stages_and_metadata() -> None:
    """The stages come in order, and the profile says for which verification it is."""
    stages: list[int] = []
    profile = await DeviceProfiler(Memory(passed()), Counting()).profile(ask(), stages.append)
    assert stages == [Stages.PREPARING, Stages.MEASURING]
    assert profile.verify_action_digest == VERIFIED
    assert profile.execution_metadata.HasField("end_time")


@pytest.mark.parametrize("verdict", [Report.MISMATCHED, Report.NEEDS_DEVICE, Report.COMPILE_FAILED])
async def test_only_what_passed_is_profiled(verdict: int) -> None:
    """A wrong kernel has no time."""
    report = Report(verdict=verdict, plans=[plan_pb2.LaunchPlan()])
    with pytest.raises(errors.FailedPrecondition, match="only what passed is profiled") as raised:
        await DeviceProfiler(Memory(report), Counting()).profile(ask(), lambda _: None)
    assert raised.value.reason == "NOT_PASSED"


async def test_data_dependent_plans_earn_no_time() -> None:
    """A plan that holds for one input is refused, with its case."""
    report = passed()
    report.plans.append(plan_pb2.LaunchPlan(case_id="branchy", data_dependent=True))
    with pytest.raises(errors.FailedPrecondition, match="in branchy") as raised:
        await DeviceProfiler(Memory(report), Counting()).profile(ask(), lambda _: None)
    assert raised.value.reason == "DATA_DEPENDENT"


async def test_without_max_age_it_is_measured_anew() -> None:
    """A measurement is not a function of its inputs."""
    device = Counting()
    profiler = CachingProfiler(DeviceProfiler(Memory(passed()), device), Memory(passed()))
    for _ in range(2):
        await profiler.profile(ask(), lambda _: None)
    assert device.made == 2


async def test_with_max_age_an_earlier_profile_is_returned() -> None:
    """The second request is answered by what the first one kept; another device is another profile."""
    device, store = Counting(), Memory(passed())
    profiler = CachingProfiler(DeviceProfiler(store, device), store)
    times = [(await profiler.profile(ask(name, 60), lambda _: None)).time_ns for name in ("MI300X", "MI300X", "MI325X")]
    assert times == [1, 1, 2]


async def test_a_full_queue_says_when_to_try_again() -> None:
    """Beyond workers and queue, the answer is UNAVAILABLE at once."""
    device = Counting()
    device.go.clear()
    profiler = QueueingProfiler(DeviceProfiler(Memory(passed()), device), workers=1, queue_size=1)
    running = [asyncio.create_task(profiler.profile(ask(), lambda _: None)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(errors.Unavailable) as raised:
        await profiler.profile(ask(), lambda _: None)
    assert (raised.value.reason, raised.value.retry_after_s) == ("QUEUE_FULL", 3.0)
    device.go.set()
    await asyncio.gather(*running)
    await profiler.profile(ask(), lambda _: None)
    assert device.made == 3


def test_a_profile_s_key_is_not_the_verification_s() -> None:
    """Reports and profiles lie side by side in the action cache."""
    keys = {ask("MI300X").key().hash, ask("MI325X").key().hash, VERIFIED.hash}
    assert len(keys) == 3
    assert profiling.MODEL_VERSION
