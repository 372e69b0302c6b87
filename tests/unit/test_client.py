"""Calls to other services, between real servers."""

import asyncio
import contextlib
import time
from typing import Any

import pytest

from kernelvault import client, errors, services
from kernelvault.services import Client
from kernelvault.v1 import corpus_pb2, corpus_pb2_grpc
from tests.conftest import Serve

Stats, Request = corpus_pb2.Stats, corpus_pb2.GetStatsRequest


def stub(address: str) -> Any:
    return corpus_pb2_grpc.CorpusStub(client.channel(address))


async def test_unavailable_is_tried_again_when_the_server_says(serve: Serve) -> None:
    """A full queue is obeyed: the next try comes after the delay in RetryInfo, not before."""
    tries: list[float] = []

    async def busy_once(request: Any, context: Any) -> Stats:
        tries.append(time.monotonic())
        if len(tries) == 1:
            raise errors.Unavailable("QUEUE_FULL", "the queue is full", retry_after_s=0.5)
        return Stats(sample_count=7)

    answer = await client.call(stub(await serve(GetStats=busy_once)).GetStats, Request(), timeout_s=5)

    assert answer == Stats(sample_count=7)
    assert tries[1] - tries[0] >= 0.4


async def test_other_errors_are_not_tried_again(serve: Serve) -> None:
    """Only UNAVAILABLE may succeed the second time."""
    tries = []

    async def wrong(request: Any, context: Any) -> Stats:
        tries.append(1)
        raise errors.FailedPrecondition("NOT_NOW", "not now")

    with pytest.raises(errors.FailedPrecondition):
        await client.call(stub(await serve(GetStats=wrong)).GetStats, Request(), timeout_s=5)

    assert len(tries) == 1


async def test_the_last_error_is_raised_when_the_time_is_up(serve: Serve) -> None:
    """A caller waits no longer than it said."""

    async def busy(request: Any, context: Any) -> Stats:
        raise errors.Unavailable("QUEUE_FULL", "the queue is full", retry_after_s=60)

    method = stub(await serve(GetStats=busy)).GetStats
    started = time.monotonic()
    with pytest.raises(errors.Unavailable, match="the queue is full"):
        await client.call(method, Request(), timeout_s=2)

    assert time.monotonic() - started < 1


async def test_a_call_made_for_a_call_inherits_its_deadline(serve: Serve) -> None:
    """Nobody works on for a caller that has given up."""

    async def tell(request: Any, context: Any) -> Stats:
        return Stats(sample_count=int(context.time_remaining() * 1000))

    inner = stub(await serve(GetStats=tell))

    async def ask(request: Any, context: Any) -> Stats:
        return await client.call(inner.GetStats, Request(), timeout_s=600)

    answer = await client.call(stub(await serve(GetStats=ask)).GetStats, Request(), timeout_s=3)

    assert 1000 < answer.sample_count < 4000  # gRPC rounds a deadline up on its way


async def test_cancelling_a_call_cancels_the_calls_made_for_it(serve: Serve) -> None:
    """What a cancelled call had begun elsewhere ends too."""
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def hang(request: Any, context: Any) -> Stats:
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return Stats()

    inner = stub(await serve(GetStats=hang))

    async def ask(request: Any, context: Any) -> Stats:
        return await client.call(inner.GetStats, Request(), timeout_s=600)

    call = asyncio.create_task(client.call(stub(await serve(GetStats=ask)).GetStats, Request(), timeout_s=60))
    await asyncio.wait_for(begun.wait(), 5)
    call.cancel()

    await asyncio.wait_for(cancelled.wait(), 5)


async def test_leaving_a_stream_cancels_it(serve: Serve) -> None:
    """A reader that has seen enough stops the writer."""
    cancelled = asyncio.Event()

    async def forever(request: Any, context: Any) -> Any:
        try:
            while True:
                yield corpus_pb2.ReadSnapshotResponse()
                await asyncio.sleep(0.01)
        finally:
            cancelled.set()

    method = stub(await serve(ReadSnapshot=forever)).ReadSnapshot
    responses = client.stream(method, corpus_pb2.ReadSnapshotRequest())
    async with contextlib.aclosing(responses):
        async for _ in responses:
            break

    await asyncio.wait_for(cancelled.wait(), 5)


async def test_a_stream_goes_on_where_it_broke(serve: Serve) -> None:
    """Each sample of a snapshot is seen once, whatever happens to the server in between."""

    async def break_often(request: Any, context: Any) -> Any:
        for offset in range(request.offset, min(request.offset + 3, 10)):
            yield corpus_pb2.ReadSnapshotResponse(offset=offset)
        if request.offset + 3 < 10:
            raise errors.Unavailable("GONE", "restarting", retry_after_s=0.01)

    address = await serve(ReadSnapshot=break_often)
    async with Client({"corpus": address}) as everything:
        seen = [response.offset async for response in everything.read_snapshot("snapshots/s")]

    assert seen == list(range(10))


async def test_pages_are_joined(serve: Serve) -> None:
    """A caller sees one sequence of samples, however many pages it took."""

    async def page(request: Any, context: Any) -> corpus_pb2.ListSamplesResponse:
        number = int(request.page_token or 0)
        following = str(number + 1) if number < 2 else ""
        return corpus_pb2.ListSamplesResponse(
            samples=[corpus_pb2.Sample(name=f"samples/{number}")], next_page_token=following
        )

    async with Client({"corpus": await serve(ListSamples=page)}) as everything:
        names = [sample.name async for sample in everything.samples()]

    assert names == ["samples/0", "samples/1", "samples/2"]


async def test_a_service_that_is_not_there_is_named_at_once() -> None:
    """Nobody waits ten minutes to learn that nothing was started."""
    started = time.monotonic()
    async with Client({"compiler": "127.0.0.1:1"}) as everything:
        with pytest.raises(errors.Unavailable, match=r"the compiler at 127\.0\.0\.1:1") as caught:
            await everything.require("compiler")

    assert caught.value.reason == "NOT_RUNNING"
    assert time.monotonic() - started < 3


async def test_a_service_that_cannot_work_is_named(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its health says NOT_SERVING for longer than a start takes: a command ends instead of waiting without a word."""
    monkeypatch.setattr(services, "_SETTLING_S", 0.3)

    async def sick() -> None:
        raise errors.Unavailable("S3_AWAY", "the store is away")

    async with Client({"corpus": await serve(ready=sick)}) as everything:
        with pytest.raises(errors.Unavailable, match="it says that it cannot work now") as caught:
            await everything.require("corpus")

    assert caught.value.reason == "NOT_SERVING"


async def test_a_call_says_why_it_waits(serve: Serve) -> None:
    """Each time that a call is tried again, its caller hears the error."""
    heard: list[errors.Error] = []

    async def busy_twice(request: Any, context: Any) -> Stats:
        if len(heard) < 2:
            raise errors.Unavailable("QUEUE_FULL", "the queue is full")
        return Stats()

    async with Client({"corpus": await serve(GetStats=busy_twice)}, on_wait=heard.append) as everything:
        await everything.stats()

    assert [error.reason for error in heard] == ["QUEUE_FULL"] * 2


def test_the_client_is_reached_from_the_package_without_loading_grpc() -> None:
    """`from kernelvault import Client` works, and importing the package alone stays cheap."""
    import subprocess
    import sys

    program = (
        "import sys, kernelvault; assert 'grpc' not in sys.modules; kernelvault.Client; assert 'grpc' in sys.modules"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
