"""How much runs, how much waits, and what the next one is told."""

from __future__ import annotations

import asyncio

import pytest

from kernelvault import errors
from kernelvault.admission import Admission


class Work:
    """Work that waits for a gate, and counts how much of it ran at once."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self.gate = asyncio.Event()
        self.admitted = self.running = self.most = 0

    async def run(self) -> None:
        """One piece of it."""
        async with self._admission.turn(self._admit):
            self.running += 1
            self.most = max(self.most, self.running)
            await self.gate.wait()
            self.running -= 1

    def _admit(self) -> None:
        self.admitted += 1


async def test_as_much_runs_as_there_are_workers() -> None:
    """The rest waits, having heard that it was let in."""
    work = Work(Admission("jobs", workers=2, queue_size=3))
    jobs = [asyncio.create_task(work.run()) for _ in range(5)]
    await asyncio.sleep(0)
    assert (work.admitted, work.running) == (5, 2)
    work.gate.set()
    await asyncio.gather(*jobs)
    assert work.most == 2


async def test_one_more_is_told_when_to_come_back() -> None:
    """Beyond workers and queue the answer is UNAVAILABLE, with a delay that grows with what is before the caller."""
    work = Work(Admission("jobs", workers=2, queue_size=1, seconds_each=4.0))
    jobs = [asyncio.create_task(work.run()) for _ in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(errors.Unavailable, match="3 jobs are running or waiting") as refused:
        await work.run()
    assert (refused.value.reason, refused.value.retry_after_s) == ("QUEUE_FULL", 7.0)
    work.gate.set()
    await asyncio.gather(*jobs)
    await work.run()


async def test_the_delay_is_bounded() -> None:
    """Nobody is sent away for longer than half a minute."""
    admission = Admission("jobs", workers=1, queue_size=99, seconds_each=10.0)
    for _ in range(100):
        admission.enter()
    with pytest.raises(errors.Unavailable) as refused:
        admission.enter()
    assert refused.value.retry_after_s == 30.0


async def test_places_come_back_however_work_ends() -> None:
    """Cancelled while running, cancelled while waiting, failed before its turn."""
    admission = Admission("jobs", workers=1, queue_size=1)
    work = Work(admission)
    jobs = [asyncio.create_task(work.run()) for _ in range(2)]
    await asyncio.sleep(0)
    for job in reversed(jobs):
        job.cancel()
    await asyncio.wait(jobs)

    def fail() -> None:
        raise ValueError("refused")

    for _ in range(3):
        with pytest.raises(ValueError, match="refused"):
            async with admission.turn(fail):
                pass
    work.gate.set()
    await asyncio.gather(work.run(), work.run())
