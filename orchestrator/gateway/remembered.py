"""Results by key: equal work that is asked for is done once, and its result kept for a while."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from kernelvault.joining import Joined

Result = TypeVar("Result")


class Remembered(Generic[Result]):
    """The last `most` results. A failure is not kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[str, Result] = OrderedDict()
        self._running: dict[str, Joined[Result]] = {}

    async def get(self, key: str, make: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """The result of `make()`, or of an earlier or running one with that key; raises what it raises."""
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key]
        work = self._running.get(key)
        if work is None or work.ended:
            work = self._running[key] = Joined(make())
        try:
            result = await work.join()
        finally:
            if work.ended and self._running.get(key) is work:
                del self._running[key]
        self._made[key] = result
        while len(self._made) > self._most:
            self._made.popitem(last=False)
        return result

    def forget(self, key: str) -> None:
        """The next one who asks has it made anew."""
        self._made.pop(key, None)
