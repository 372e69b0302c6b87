"""Calls that can be resumed: what a call has streamed is kept for an hour under its request ID."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

from google.protobuf.message import Message

from kernelvault import errors
from kernelvault.admission import Admission

Response = TypeVar("Response", bound=Message)
Produce = Callable[[Sequence[Response]], AsyncIterator[Response]]

KEEP_S = 3600.0
_MOST_BYTES = 256 << 20


class _Run:
    """One production of a recording's missing responses."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.failure: BaseException | None = None


class _Recording:
    """The responses of one request so far, whoever listens."""

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.responses: list[Any] = []
        self.complete = False
        self.run: _Run | None = None
        self.listeners = 0
        self.used_at = 0.0
        self.size_bytes = 0
        self.changed = asyncio.Event()

    def notify(self) -> None:
        """Wakes all listeners."""
        self.changed.set()
        self.changed = asyncio.Event()


class Calls:
    """Runs a bounded number of calls; those with equal request IDs share one run and its responses.

    A run is cancelled when its last listener is gone. What it made by then is kept, and a later call goes on with the
    rest.
    """

    def __init__(self, capacity: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._admission = Admission("calls", workers=capacity)
        self._clock = clock
        self._recordings: dict[str, _Recording] = {}

    async def stream(self, request_id: str, fingerprint: str, produce: Produce[Response]) -> AsyncIterator[Response]:
        """The responses made so far, then the rest as `produce(the responses made so far)` makes them.

        Raises errors.Unavailable (`QUEUE_FULL`) where too many calls run, errors.InvalidArgument where the request ID
        was used for another request, and what `produce` raises.
        """
        recording = self._find(request_id, fingerprint)
        recording.listeners += 1
        position = 0
        run: _Run | None = None
        try:
            while True:
                while position < len(recording.responses):
                    yield recording.responses[position]
                    position += 1
                if recording.complete:
                    return
                if run is not None and run.failure is not None:
                    raise run.failure
                run = recording.run or self._start(recording, produce)
                await recording.changed.wait()
        finally:
            await self._leave(recording)

    async def _leave(self, recording: _Recording) -> None:
        recording.listeners -= 1
        recording.used_at = self._clock()
        if recording.listeners == 0 and recording.run and recording.run.task:
            task = recording.run.task
            task.cancel()
            await asyncio.wait([task])

    def _find(self, request_id: str, fingerprint: str) -> _Recording:
        self._evict()
        if not request_id:
            return _Recording(fingerprint)
        recording = self._recordings.get(request_id)
        if recording is None:
            recording = self._recordings[request_id] = _Recording(fingerprint)
        if recording.fingerprint != fingerprint:
            raise errors.InvalidArgument("request_id", "was used for another request; make a new one")
        return recording

    def _evict(self) -> None:
        """Forgets recordings that nobody listens to: old ones, then the least recently used above the size limit."""
        idle = [(one.used_at, key, one) for key, one in self._recordings.items() if one.listeners == 0]
        size = sum(one.size_bytes for one in self._recordings.values())
        for used_at, key, one in sorted(idle, key=lambda item: item[0]):
            if used_at > self._clock() - KEEP_S and size <= _MOST_BYTES:
                break
            size -= one.size_bytes
            del self._recordings[key]

    def _start(self, recording: _Recording, produce: Produce[Any]) -> _Run:
        self._admission.enter()
        run = recording.run = _Run()
        # An empty context: the deadline of the call that came first must not end the others'.
        run.task = asyncio.create_task(self._produce(recording, run, produce), context=contextvars.Context())
        # Not in the task itself: one that is cancelled before its first step would never give its place back.
        run.task.add_done_callback(lambda _: self._end(recording))
        return run

    def _end(self, recording: _Recording) -> None:
        recording.run = None
        self._admission.leave()
        recording.notify()

    async def _produce(self, recording: _Recording, run: _Run, produce: Produce[Any]) -> None:
        responses = produce(tuple(recording.responses))
        try:
            async for response in responses:
                recording.responses.append(response)
                recording.size_bytes += response.ByteSize()
                recording.notify()
            recording.complete = True
        except asyncio.CancelledError:
            run.failure = errors.Unavailable("CANCELLED", "the call that made the samples was cancelled", 0.1)
            raise
        except Exception as error:
            run.failure = error
        finally:
            close = getattr(responses, "aclose", None)
            if close:
                await close()
