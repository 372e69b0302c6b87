"""How much of a kind of work runs at once and how much of it waits; one more is told to come back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from prometheus_client import Counter, Gauge

from kernelvault import errors

_LONGEST_WAIT_S = 30.0
# Autoscalers act on the depth. A process admits each kind in one place.
_depth = Gauge("kernelvault_queue_depth", "Work that runs or waits", ["kind"])
_workers = Gauge("kernelvault_queue_workers", "Work that may run at once", ["kind"])
_capacity = Gauge("kernelvault_queue_capacity", "Work that may run or wait at once", ["kind"])
_refused = Counter(
    "kernelvault_queue_refused_total", "Work that was told to come back, for the queue was full", ["kind"]
)


class Admission:
    """Bounds work of one kind: `workers` run, `queue_size` more wait for their turn.

    `kind` names it in messages, in the plural. `seconds_each` is about how long one takes: the delay that is told to
    those who are refused is a second and a turn for each of `workers` before them, half a minute at most.
    """

    def __init__(self, kind: str, *, workers: int, queue_size: int = 0, seconds_each: float = 0.0) -> None:
        self._kind = kind
        self._workers = workers
        self._capacity = workers + queue_size
        self._seconds_each = seconds_each
        self._slots = asyncio.Semaphore(workers)
        self._held = 0
        self._depth, self._refused = _depth.labels(kind), _refused.labels(kind)
        self._depth.set(0)
        _workers.labels(kind).set(workers)
        _capacity.labels(kind).set(self._capacity)

    def enter(self) -> None:
        """Takes a place, to be given back with `leave`; raises errors.Unavailable (`QUEUE_FULL`) if there is none."""
        if self._held >= self._capacity:
            self._refused.inc()
            wait_s = min(_LONGEST_WAIT_S, 1.0 + self._seconds_each * self._held / self._workers)
            raise errors.Unavailable("QUEUE_FULL", f"{self._held} {self._kind} are running or waiting", wait_s)
        self._held += 1
        self._depth.inc()

    def leave(self) -> None:
        """Gives a place back."""
        self._held -= 1
        self._depth.dec()

    @contextlib.asynccontextmanager
    async def turn(self, admitted: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
        """Takes a place, calls `admitted`, and runs the block when its turn has come; raises as `enter` does."""
        self.enter()
        try:
            admitted()
            async with self._slots:
                yield
        finally:
            self.leave()
