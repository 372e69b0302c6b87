"""Equal work that is asked for at the same time is done once."""

from __future__ import annotations

import asyncio
import contextvars

import pytest

from kernelvault.joining import Joined

caller: contextvars.ContextVar[str] = contextvars.ContextVar("caller", default="nobody")


class Work:
    """Work that waits for a gate and takes its time to be cancelled."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.cleaned_up = False

    async def run(self) -> str:
        """The name of the caller in whose context it runs."""
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)
            self.cleaned_up = True
            raise
        return caller.get()


async def test_all_callers_get_the_result() -> None:
    """Who joins late gets it, too."""
    work = Work()
    joined = Joined(work.run())
    callers = [asyncio.create_task(joined.join()) for _ in range(2)]
    work.gate.set()
    assert await asyncio.gather(*callers) == ["nobody", "nobody"]
    assert await joined.join() == "nobody"


async def test_work_lives_until_its_last_caller_is_gone() -> None:
    """One of two may leave; when both have left, what the work started is gone."""
    work = Work()
    joined = Joined(work.run())
    first, second = (asyncio.create_task(joined.join()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    assert not joined.ended
    second.cancel()
    await asyncio.wait([second])
    assert (joined.ended, work.cleaned_up) == (True, True)


async def test_work_that_is_being_cancelled_cannot_be_joined() -> None:
    """A caller who comes while the last one leaves starts anew instead of being cancelled with it."""
    joined = Joined(Work().run())
    only = asyncio.create_task(joined.join())
    await asyncio.sleep(0)
    only.cancel()
    await asyncio.sleep(0)
    assert joined.ended


async def test_a_failure_reaches_every_caller() -> None:
    """The error is raised to all."""

    async def fail() -> None:
        raise ValueError("broken")

    joined = Joined(fail())
    results = await asyncio.gather(joined.join(), joined.join(), return_exceptions=True)
    assert [str(result) for result in results] == ["broken", "broken"]


@pytest.mark.parametrize(("context", "seen"), [(None, "first"), (contextvars.Context(), "nobody")])
async def test_the_context_is_the_first_callers_or_its_own(context: contextvars.Context | None, seen: str) -> None:
    """A deadline of the caller that came first must not end the others' work, where a context is given."""
    caller.set("first")
    work = Work()
    work.gate.set()
    assert await Joined(work.run(), context=context).join() == seen
