"""CPU time by stage: what a call spends in its sandboxed children."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

from kernelvault.sandbox.client import Sandbox
from kernelvault.sandbox.job import Job, Outcome
from kernelvault.v1 import kernel_pb2

_meter: contextvars.ContextVar[dict[str, float] | None] = contextvars.ContextVar("meter", default=None)
_stage: contextvars.ContextVar[str] = contextvars.ContextVar("stage", default="other")


class MeteredSandbox(Sandbox):
    """A sandbox that books each job's CPU time on the stage that runs it."""

    async def run(self, job: Job) -> Outcome:
        """Raises what Sandbox.run raises."""
        outcome = await super().run(job)
        meter = _meter.get()
        if meter is not None:
            meter[_stage.get()] = meter.get(_stage.get(), 0.0) + outcome.cpu_seconds
        return outcome


@contextlib.contextmanager
def metered() -> Iterator[dict[str, float]]:
    """CPU seconds by stage of all that runs in the block, its subtasks included."""
    meter: dict[str, float] = {}
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """Books on `name` what runs in the block."""
    token = _stage.set(name)
    try:
        yield
    finally:
        _stage.reset(token)


def stage_times(meter: dict[str, float]) -> list[kernel_pb2.ExecutionMetadata.StageTime]:
    """The meter as messages, by name."""
    times = []
    for name, seconds in sorted(meter.items()):
        time = kernel_pb2.ExecutionMetadata.StageTime(stage=name)
        time.cpu_time.FromNanoseconds(int(seconds * 1e9))
        times.append(time)
    return times
