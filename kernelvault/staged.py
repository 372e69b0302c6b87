"""Calls that stream the stages of their work, then its result."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")
Update = TypeVar("Update")


async def updates(
    start: Callable[[Callable[[Any], None]], Coroutine[Any, Any, Result]],
    *,
    stage: Callable[[Any], Update],
    result: Callable[[Result], Update],
) -> AsyncGenerator[Update]:
    """Runs `start(progress)`: an update for each stage that it tells `progress`, then one for its result.

    Raises what the work raises. Closing the generator cancels the work and waits for its end.
    """
    told: asyncio.Queue[tuple[Any] | None] = asyncio.Queue()
    running = asyncio.ensure_future(start(lambda begun: told.put_nowait((begun,))))
    running.add_done_callback(lambda _: told.put_nowait(None))
    try:
        while (begun := await told.get()) is not None:
            yield stage(*begun)
        yield result(running.result())
    finally:
        if not running.done():
            running.cancel()
        await asyncio.wait([running])
