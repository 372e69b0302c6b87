"""Calls of the generator that are repeated with the same request ID."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from kernelvault import errors
from kernelvault.v1.generator_pb2 import GenerateCandidatesResponse as Response
from svc_generator.calls import KEEP_S, Calls


class Producer:
    """Makes `count` responses; from number `hold` on it waits for `gate`. Remembers what it was asked to leave out."""

    def __init__(self, count: int = 3, *, hold: int = 0, fail_after: int | None = None) -> None:
        self.count = count
        self.hold = hold
        self.fail_after = fail_after
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked: list[frozenset[int]] = []
        self.ended = 0

    async def __call__(self, so_far: Sequence[Response]) -> AsyncIterator[Response]:
        done = frozenset(response.sample_index for response in so_far)
        self.asked.append(done)
        try:
            for made, index in enumerate(i for i in range(self.count) if i not in done):
                if made >= self.hold:
                    await self.gate.wait()
                if made == self.fail_after:
                    raise errors.Unavailable("MODEL_BUSY", "later")
                yield Response(sample_index=index)
        finally:
            self.ended += 1


async def indices(calls: Calls, producer: Producer, request_id: str = "", fingerprint: str = "f") -> list[int]:
    """The sample indices that a call streams."""
    return [one.sample_index async for one in calls.stream(request_id, fingerprint, producer)]


async def test_a_repeated_call_streams_what_was_made() -> None:
    """A finished call is answered from its recording."""
    calls, producer = Calls(4), Producer()
    assert await indices(calls, producer, "id") == [0, 1, 2]
    assert await indices(calls, producer, "id") == [0, 1, 2]
    assert producer.asked == [frozenset()]


async def test_without_a_request_id_each_call_is_new() -> None:
    """Nothing is kept for a call without an ID."""
    calls, producer = Calls(4), Producer()
    await indices(calls, producer)
    await indices(calls, producer)
    assert len(producer.asked) == 2


async def test_a_call_goes_on_where_the_last_one_stopped() -> None:
    """What was made before a cancellation is kept, and only the rest is made."""
    calls, producer = Calls(4), Producer(hold=1)
    producer.gate.clear()
    stream = calls.stream("id", "f", producer)
    assert (await anext(stream)).sample_index == 0
    await stream.aclose()
    producer.gate.set()
    assert await indices(calls, producer, "id") == [0, 1, 2]
    assert producer.asked == [frozenset(), frozenset({0})]


async def test_a_call_without_listeners_is_cancelled() -> None:
    """When the last caller is gone the production has ended."""
    calls, producer = Calls(4), Producer()
    producer.gate.clear()
    waiting = asyncio.create_task(indices(calls, producer, "id"))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert producer.ended == 1


async def test_two_callers_share_one_run() -> None:
    """A call that is repeated while it runs joins it."""
    calls, producer = Calls(1), Producer()
    producer.gate.clear()
    both = [asyncio.create_task(indices(calls, producer, "id")) for _ in range(2)]
    await asyncio.sleep(0.01)
    producer.gate.set()
    assert await asyncio.gather(*both) == [[0, 1, 2]] * 2
    assert len(producer.asked) == 1


async def test_a_failure_comes_after_what_was_made() -> None:
    """A call that fails in the middle streams what it has, then raises; a repeated one goes on."""
    calls, producer = Calls(4), Producer(fail_after=2)
    seen = []
    with pytest.raises(errors.Unavailable, match="later"):
        async for response in calls.stream("id", "f", producer):
            seen.append(response.sample_index)
    assert seen == [0, 1]
    producer.fail_after = None
    assert await indices(calls, producer, "id") == [0, 1, 2]
    assert producer.asked[-1] == frozenset({0, 1})


async def test_a_full_queue_says_when_to_retry() -> None:
    """One call more than the capacity is UNAVAILABLE; room comes back when a call ends."""
    calls, producer = Calls(1), Producer()
    producer.gate.clear()
    running = asyncio.create_task(indices(calls, producer))
    await asyncio.sleep(0.01)
    with pytest.raises(errors.Unavailable) as refused:
        await indices(calls, producer)
    assert (refused.value.reason, refused.value.retry_after_s) == ("QUEUE_FULL", 1.0)
    producer.gate.set()
    await running
    assert await indices(calls, producer) == [0, 1, 2]


async def test_a_call_that_never_began_gives_its_place_back() -> None:
    """A caller that is gone before the production's first step leaves neither a dead run nor a taken place."""
    calls, producer = Calls(1), Producer()
    waiting = asyncio.create_task(indices(calls, producer, "id"))
    asyncio.get_running_loop().call_soon(waiting.cancel)
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await asyncio.wait_for(indices(calls, producer, "id"), 1) == [0, 1, 2]


async def test_a_request_id_names_one_request() -> None:
    """The ID of one request cannot be used for another."""
    calls, producer = Calls(4), Producer()
    await indices(calls, producer, "id")
    with pytest.raises(errors.InvalidArgument, match="request_id"):
        await indices(calls, producer, "id", "another")


async def test_recordings_are_kept_for_an_hour() -> None:
    """After an hour a request ID is unknown again."""
    now = [0.0]
    calls, producer = Calls(4, clock=lambda: now[0]), Producer()
    await indices(calls, producer, "id")
    now[0] = KEEP_S + 1
    await indices(calls, producer, "id")
    assert len(producer.asked) == 2
