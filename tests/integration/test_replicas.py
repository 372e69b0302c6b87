"""Two processes of one service behind one client: either may go away, and no request is lost."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelvault import client
from kernelvault.v1 import corpus_pb2, corpus_pb2_grpc, storage_pb2, storage_pb2_grpc

PROGRAM = Path(__file__).parents[1] / "programs" / "slow_service.py"
CALLS, AT_ONCE = 160, 20
Replica = subprocess.Popen[bytes]


@contextlib.contextmanager
def replica(folder: Path, *, address: str = "127.0.0.1:0", **settings: str) -> Iterator[tuple[Replica, str]]:
    """A running process and its address."""
    ready = folder / f"ready-{time.monotonic_ns()}"
    given = {"READY_FILE": str(ready), "ADDRESS": address, "CALL_SECONDS": "0.05", **settings}
    environment = {**os.environ, **{f"KERNELVAULT_{name}": value for name, value in given.items()}}
    with subprocess.Popen([sys.executable, PROGRAM], env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            while not ready.exists():
                assert process.poll() is None
                time.sleep(0.005)
            yield process, ready.read_text().split()[1]
        finally:
            process.kill()


def both(first: str, second: str) -> str:
    """The two addresses as one."""
    return f"ipv4:{first},{second}"


async def unary(channel: Any) -> int:
    """A unary call; which process answered it."""
    answer = await client.call(corpus_pb2_grpc.CorpusStub(channel).GetStats, corpus_pb2.GetStatsRequest(), timeout_s=30)
    return int(answer.snapshot_count)


async def stream(channel: Any) -> int:
    """A server stream that goes on where it broke: each response is seen once."""

    def rest(request: Any, last: Any) -> Any:
        return corpus_pb2.ReadSnapshotRequest(offset=last.offset + 1)

    method = corpus_pb2_grpc.CorpusStub(channel).ReadSnapshot
    responses = client.stream(method, corpus_pb2.ReadSnapshotRequest(), timeout_s=30, resume=rest)
    assert [response.offset async for response in responses] == [0, 1, 2, 3]
    return 0


async def upload(channel: Any) -> int:
    """A client stream, which is sent anew."""
    pieces = [storage_pb2.WriteBlobRequest(data=b"x" * 10_000)] * 4
    method = storage_pb2_grpc.BlobStoreStub(channel).WriteBlob
    assert await client.upload(method, lambda: pieces, timeout_s=30) == storage_pb2.WriteBlobResponse()
    return 0


async def load(
    address: str, call: Callable[[Any], Awaitable[int]], disturb: Callable[[], object], *, after: int = CALLS // 4
) -> Counter[int]:
    """Makes many calls, `AT_ONCE` at any time, and disturbs them once; who answered how many. Raises as a call does."""
    answered: Counter[int] = Counter()
    left = iter(range(CALLS))

    async def work(channel: Any) -> None:
        for _ in left:
            answered[await call(channel)] += 1
            if answered.total() == after:
                disturb()

    async with client.channel(address) as channel, asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(work(channel))
    return answered


async def test_calls_are_spread_over_the_replicas(tmp_path: Path) -> None:
    """Neither of two is left idle."""
    with replica(tmp_path) as (first, one), replica(tmp_path) as (second, two):
        answered = await load(both(one, two), unary, lambda: None)

    assert min(answered[first.pid], answered[second.pid]) > CALLS // 3


@pytest.mark.parametrize("call", [unary, stream, upload])
async def test_no_call_is_lost_when_a_replica_is_killed(tmp_path: Path, call: Callable[[Any], Awaitable[int]]) -> None:
    """What ran on it is tried again on the other one."""
    with replica(tmp_path) as (first, one), replica(tmp_path) as (_, two):
        answered = await load(both(one, two), call, first.kill)

    assert answered.total() == CALLS


@pytest.mark.parametrize("call", [unary, stream, upload])
async def test_no_call_is_lost_when_a_replica_drains(tmp_path: Path, call: Callable[[Any], Awaitable[int]]) -> None:
    """What ran on it is finished there, everything else goes to the other one, and the process ends well."""
    with replica(tmp_path) as (first, one), replica(tmp_path) as (_, two):
        answered = await load(both(one, two), call, lambda: first.send_signal(signal.SIGTERM))
        code = await asyncio.to_thread(first.wait, 10)

    assert answered.total() == CALLS
    assert code == 0


@pytest.mark.parametrize("call", [unary, stream, upload])
async def test_no_call_is_lost_when_connections_grow_old(tmp_path: Path, call: Callable[[Any], Awaitable[int]]) -> None:
    """A server ends a connection at its age, and its calls go on."""
    young = {"MAX_CONNECTION_AGE_SECONDS": "0.2"}
    with replica(tmp_path, **young) as (_, one), replica(tmp_path, **young) as (_, two):
        answered = await load(both(one, two), call, lambda: None)

    assert answered.total() == CALLS


async def test_a_replica_that_comes_back_is_used_again(tmp_path: Path) -> None:
    """Within seconds, by the same channel."""
    with replica(tmp_path) as (_, one), contextlib.ExitStack() as stack:
        gone, two = stack.enter_context(replica(tmp_path))
        async with client.channel(both(one, two)) as channel:
            while await unary(channel) != gone.pid:
                pass
            gone.kill()
            gone.wait()
            await unary(channel)
            back, _ = stack.enter_context(replica(tmp_path, address=two))
            async with asyncio.timeout(10):
                while await unary(channel) != back.pid:
                    await asyncio.sleep(0.02)


async def test_all_replicas_may_be_away_for_a_moment(tmp_path: Path) -> None:
    """A call waits for one to come back, as long as its deadline allows."""
    with contextlib.ExitStack() as stack:
        gone, address = stack.enter_context(replica(tmp_path))
        async with client.channel(address) as channel:
            await unary(channel)
            gone.kill()
            gone.wait()
            waiting = asyncio.create_task(unary(channel))
            await asyncio.sleep(0.5)
            back, _ = await asyncio.to_thread(lambda: stack.enter_context(replica(tmp_path, address=address)))

            assert await waiting == back.pid
