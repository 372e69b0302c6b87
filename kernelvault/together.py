"""Work done side by side, none of which goes on when one part has failed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def together(*parts: Coroutine[Any, Any, Result]) -> list[Result]:
    """The results in order, or the first part's exception, raised once all others have been cancelled and have ended.

    `asyncio.gather` lets the others go on, in folders that its caller is about to remove.
    """
    tasks = [asyncio.create_task(part) for part in parts]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await ended(*tasks)


async def ended(*tasks: asyncio.Task[Any]) -> None:
    """Cancels what is not done and waits for its end; raises nothing of theirs."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
