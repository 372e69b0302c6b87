"""What was acknowledged stays, whoever dies and however many write."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from kernelvault import client, errors
from kernelvault.v1 import corpus_pb2, storage_pb2
from tests import messages
from tests.corpus import Corpus
from tests.s3 import S3Server
from tests.services import Service

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@contextlib.asynccontextmanager
async def connected(service: Service) -> AsyncIterator[Corpus]:
    """The corpus that a process serves."""
    async with client.channel(service.address) as channel:
        yield Corpus(channel)


async def sample_count(corpus: Corpus) -> int:
    """Rows of the samples table."""
    return int((await corpus.call("GetStats", corpus_pb2.GetStatsRequest())).sample_count)


async def health(corpus: Corpus, *, wanted: int, within_s: float) -> None:
    """Waits until the corpus says `wanted` of its health."""
    stub = health_pb2_grpc.HealthStub(corpus.channel)
    deadline = time.monotonic() + within_s
    request = health_pb2.HealthCheckRequest(service="kernelvault.v1.Corpus")
    while (await stub.Check(request)).status != wanted:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


async def code(method: Any, request: Any) -> str:
    """The code of one try, without the client's retries."""
    try:
        await method(request, timeout=20)
    except grpc.aio.AioRpcError as error:
        return str(error.code().name)
    return "OK"


async def outcome(call: Awaitable[object]) -> str:
    """`ok`, or the name of the error that was raised."""
    try:
        await call
    except errors.Error as error:
        return type(error).__name__
    return "ok"


@pytest.mark.slow
async def test_four_servers_lose_and_repeat_nothing(s3: S3Server) -> None:
    """Samples that are written through four processes at once, some through all of them, are each stored once."""
    environment = s3.environment(prefix=f"{uuid.uuid4().hex}/", maintenance_seconds="0.3")
    async with contextlib.AsyncExitStack() as stack:
        services = [stack.enter_context(Service("svc_corpus", environment)) for _ in range(4)]
        corpora = [await stack.enter_async_context(connected(service)) for service in services]
        task = await corpora[0].task("shared")

        async def write(index: int) -> list[str]:
            names = []
            for burst in range(8):
                sources = [f"{index} {burst} {each}" for each in range(5)] + [
                    f"all {burst} {each}" for each in range(5)
                ]
                made = await asyncio.gather(*(corpora[index].sample(task.name, source) for source in sources))
                names += [sample.name for sample in made]
            return names

        names = [name for written in await asyncio.gather(*map(write, range(4))) for name in written]
        assert len(set(names)) == 4 * 40 + 40
        for corpus in corpora:
            assert await sample_count(corpus) == len(set(names))


@pytest.mark.slow
async def test_what_was_acknowledged_outlives_a_kill(s3: S3Server) -> None:
    """A server that is killed amid writes has, when it is back, every sample that it acknowledged, once."""
    acknowledged: set[str] = set()
    with Service("svc_corpus", s3.environment(prefix=f"{uuid.uuid4().hex}/")) as service:
        async with connected(service) as corpus:
            task = await corpus.task("killed")

            async def write(index: int) -> None:
                for each in range(25):
                    acknowledged.add((await corpus.sample(task.name, f"{index} {each}")).name)

            writers = asyncio.gather(*(write(index) for index in range(8)))
            for _ in range(2):
                seen = len(acknowledged)
                while len(acknowledged) < seen + 40:
                    await asyncio.sleep(0.005)
                service.kill()
                survived = set(acknowledged)
                service.restart()
                requests = [corpus_pb2.GetSampleRequest(name=name) for name in survived]
                await asyncio.gather(*(corpus.call("GetSample", request) for request in requests))
            await writers
            assert len(acknowledged) == await sample_count(corpus) == 200


@pytest.mark.slow
async def test_a_store_that_is_down_is_unavailable_until_it_is_back(own_s3: S3Server) -> None:
    """Calls say UNAVAILABLE with a time to retry, health says NOT_SERVING, and both recover with the store."""
    with Service("svc_corpus", own_s3.environment()) as service:
        async with connected(service) as corpus:
            task = await corpus.task("down")
            await corpus.sample(task.name, "before")
            own_s3.stop()
            calls = (
                ("CreateTask", corpus_pb2.CreateTaskRequest(task=messages.task("other"))),
                ("CreateSample", corpus_pb2.CreateSampleRequest(sample=messages.sample(task.name, "during"))),
                ("ListSamples", corpus_pb2.ListSamplesRequest()),
                ("GetStats", corpus_pb2.GetStatsRequest()),
                ("CreateSnapshot", corpus_pb2.CreateSnapshotRequest(snapshot_id="a")),
                ("FindMissingBlobs", storage_pb2.FindMissingBlobsRequest(digests=[task.reference.digest])),
                ("GetActionResult", storage_pb2.GetActionResultRequest(action_digest=task.reference.digest)),
            )
            codes = await asyncio.gather(*(code(corpus.method(name), request) for name, request in calls))
            assert codes == ["UNAVAILABLE"] * len(calls)
            await health(corpus, wanted=NOT_SERVING, within_s=6)
            own_s3.start()
            await health(corpus, wanted=SERVING, within_s=6)
            await corpus.sample(task.name, "during")
            assert await sample_count(corpus) == 2


async def test_one_of_two_different_snapshots_wins(s3: S3Server) -> None:
    """Of snapshots with one name and different samples, made at once by two servers, one is stored and one refused."""
    environment = s3.environment(prefix=f"{uuid.uuid4().hex}/")
    async with contextlib.AsyncExitStack() as stack:
        services = [stack.enter_context(Service("svc_corpus", environment)) for _ in range(2)]
        corpora = [await stack.enter_async_context(connected(service)) for service in services]
        tasks = [await corpora[0].task(f"race{index}") for index in range(2)]
        for task in tasks:
            await corpora[0].sample(task.name, "kernel")
        for attempt in range(8):
            requests = [
                corpus_pb2.CreateSnapshotRequest(
                    snapshot_id=f"race{attempt}", filter=corpus_pb2.SampleFilter(tasks=[task.name])
                )
                for task in tasks
            ]
            outcomes = await asyncio.gather(
                *(
                    outcome(corpus.call("CreateSnapshot", request))
                    for corpus, request in zip(corpora, requests, strict=True)
                )
            )
            assert sorted(outcomes) == ["AlreadyExists", "ok"]


@pytest.mark.slow
async def test_maintenance_disturbs_nobody(s3: S3Server) -> None:
    """While small files are compacted and indexes refreshed, writes are kept and searches find all."""
    environment = s3.environment(prefix=f"{uuid.uuid4().hex}/", maintenance_seconds="0.2", commit_window_ms="0")
    with Service("svc_corpus", environment) as service:
        async with connected(service) as corpus:
            task = await corpus.task("maintained")
            for index in range(90):
                await corpus.sample(task.name, f"needle {index}")
            request = corpus_pb2.SearchSamplesRequest(query="needle", limit=200)
            assert len(await corpus.all("SearchSamples", request)) == 90
            assert await sample_count(corpus) == 90
        assert "compacted" in service.log()


async def test_the_corpus_starts_without_its_store(s3: S3Server) -> None:
    """It answers its first health check, and says NOT_SERVING."""
    environment = s3.environment(s3_endpoint="127.0.0.1:1")
    with Service("svc_corpus", environment) as service:
        async with connected(service) as corpus:
            await health(corpus, wanted=NOT_SERVING, within_s=0)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"s3_endpoint": "http://127.0.0.1:9000"}, "KERNELVAULT_S3_ENDPOINT"),
        ({"s3_secret_key": ""}, "KERNELVAULT_S3_SECRET_KEY"),
        ({"s3_access_key_file": "/nowhere"}, "KERNELVAULT_S3_ACCESS_KEY"),
        ({"prefix": "no-slash"}, "KERNELVAULT_PREFIX"),
        ({"page_size": "3"}, "KERNELVAULT_PAGE_SIZE"),
    ],
)
def test_a_wrong_setting_is_named(s3: S3Server, changed: dict[str, str], named: str) -> None:
    """The process exits with 2 and one line that names the variable."""
    done = subprocess.run(
        [sys.executable, "-m", "svc_corpus"], env=s3.environment(**changed), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert named in done.stderr
    assert len(done.stderr.splitlines()) == 1
