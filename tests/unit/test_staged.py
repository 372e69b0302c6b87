"""Streams of stages, then a result."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable

import pytest

from kernelvault import staged


def stream(work: Callable[[Callable[[int], None]], object]) -> AsyncGenerator[tuple[str, object]]:
    """Updates as pairs."""
    return staged.updates(work, stage=lambda s: ("stage", s), result=lambda r: ("result", r))  # type: ignore[arg-type]


async def test_stages_come_before_the_result() -> None:
    """Each is sent as it begins, those that are falsy too."""

    async def work(progress: Callable[[int], None]) -> str:
        for number in range(2):
            progress(number)
            await asyncio.sleep(0)
        return "done"

    assert [update async for update in stream(work)] == [("stage", 0), ("stage", 1), ("result", "done")]


async def test_a_failure_comes_after_the_stages() -> None:
    """What was told before it is still sent."""

    async def work(progress: Callable[[int], None]) -> str:
        progress(1)
        raise ValueError("broken")

    updates = stream(work)
    assert await anext(updates) == ("stage", 1)
    with pytest.raises(ValueError, match="broken"):
        await anext(updates)


async def test_closing_the_stream_ends_the_work() -> None:
    """A caller who goes away leaves nothing running."""
    ended = asyncio.Event()

    async def work(progress: Callable[[int], None]) -> str:
        progress(1)
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return "late"

    async with contextlib.aclosing(stream(work)) as updates:
        assert await anext(updates) == ("stage", 1)
    assert ended.is_set()
