"""Equal work that is asked for at the same time is done once."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class Joined(Generic[Result]):
    """Work that several callers wait for; it is cancelled when the last of them is gone."""

    def __init__(self, work: Coroutine[Any, Any, Result], *, context: contextvars.Context | None = None) -> None:
        """Starts `work` in `context`, or in a copy of the caller's, whose deadline then ends it for all others too."""
        self._task = asyncio.get_running_loop().create_task(work, context=context)
        self._callers = 0

    @property
    def ended(self) -> bool:
        """Whether it is too late to join: it is done or being cancelled."""
        return self._task.done() or self._task.cancelling() > 0

    async def join(self) -> Result:
        """The result; raises what the work raises. If the last caller is cancelled, what the work started is gone."""
        self._callers += 1
        try:
            return await asyncio.shield(self._task)
        finally:
            self._callers -= 1
            if self._callers == 0 and not self._task.done():
                self._task.cancel()
                await asyncio.wait([self._task])
