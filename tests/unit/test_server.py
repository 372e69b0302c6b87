"""The server that all services run, in this process and as one of its own."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from kernelvault import client, errors
from kernelvault.v1 import corpus_pb2, corpus_pb2_grpc
from tests.conftest import Serve
from tests.usage import cpu_seconds

PROGRAM = Path(__file__).parents[1] / "programs" / "slow_service.py"
GRPCURL = Path(sys.executable).with_name("grpcurl")


@contextlib.contextmanager
def process(ready: Path, **settings: str) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, str]]]:
    """A service that listens, and the addresses that it wrote to its ready file."""
    environment = {**os.environ, "KERNELVAULT_READY_FILE": str(ready)}
    environment |= {f"KERNELVAULT_{name}": value for name, value in settings.items()}
    with subprocess.Popen([sys.executable, PROGRAM], env=environment, stderr=subprocess.PIPE) as running:
        try:
            while not ready.exists():
                assert running.poll() is None, running.communicate()[1].decode()
                time.sleep(0.005)
            yield running, dict(line.split(" ", 1) for line in ready.read_text().splitlines())
        finally:
            running.kill()


async def test_health_follows_readiness(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server says NOT_SERVING while it cannot work, and SERVING again when it can."""
    monkeypatch.setattr("kernelvault.server._HEALTH_PERIOD_S", 0.05)
    fit = asyncio.Event()

    async def ready() -> None:
        if not fit.is_set():
            raise errors.Unavailable("NO_STORE", "the store is gone")

    channel = client.channel(await serve(ready=ready))
    assert await client.health(channel, timeout_s=1) == "NOT_SERVING"
    fit.set()
    async with asyncio.timeout(5):
        while await client.health(channel, timeout_s=1) != "SERVING":
            await asyncio.sleep(0.02)
    fit.clear()
    async with asyncio.timeout(5):
        while await client.health(channel, timeout_s=1) != "NOT_SERVING":
            await asyncio.sleep(0.02)


async def test_a_readiness_check_that_hangs_counts_as_not_ready(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that never answers is no store."""
    monkeypatch.setattr("kernelvault.server._HEALTH_PERIOD_S", 0.05)

    async def hang() -> None:
        await asyncio.sleep(60)

    channel = client.channel(await serve(ready=hang))

    assert await client.health(channel, timeout_s=1) == "NOT_SERVING"


async def test_grpcurl_lists_the_services(serve: Serve) -> None:
    """Reflection tells a stranger what there is to call."""
    address = await serve()

    listed = await asyncio.to_thread(subprocess.check_output, [GRPCURL, "-plaintext", address, "list"])

    assert listed.decode().split() == [
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
        "kernelvault.v1.Corpus",
    ]


def test_a_service_starts_with_little_work(tmp_path: Path) -> None:
    """Starting a process, its imports and its first answer take less than a second of CPU time together."""

    async def until_serving(address: str) -> None:
        while await client.health(client.channel(address), timeout_s=1) != "SERVING":
            await asyncio.sleep(0.01)

    with process(tmp_path / "ready") as (running, listening):
        asyncio.run(until_serving(listening["address"]))
        assert cpu_seconds(running.pid) < 1


def test_sigterm_drains(tmp_path: Path) -> None:
    """A running call is finished, then the process ends with 0."""

    async def call_then_terminate(address: str, running: subprocess.Popen[bytes]) -> corpus_pb2.Stats:
        method = corpus_pb2_grpc.CorpusStub(client.channel(address)).GetStats
        call = asyncio.create_task(client.call(method, corpus_pb2.GetStatsRequest(), timeout_s=10))
        await asyncio.sleep(0.3)
        running.send_signal(signal.SIGTERM)
        return await call

    with process(tmp_path / "ready", CALL_SECONDS="1") as (running, listening):
        answer = asyncio.run(call_then_terminate(listening["address"], running))
        code = running.wait(5)

    assert answer.sample_count == 1
    assert code == 0


def test_a_drain_ends_in_time(tmp_path: Path) -> None:
    """A call that outlives the grace is cancelled, and its client may try elsewhere."""

    async def call_then_terminate(address: str, running: subprocess.Popen[bytes]) -> errors.Error:
        method = corpus_pb2_grpc.CorpusStub(client.channel(address)).GetStats
        call = asyncio.create_task(client.call(method, corpus_pb2.GetStatsRequest(), timeout_s=4))
        await asyncio.sleep(0.3)
        running.send_signal(signal.SIGTERM)
        with pytest.raises(errors.Error) as caught:
            await call
        return caught.value

    with process(tmp_path / "ready", CALL_SECONDS="60", DRAIN_SECONDS="0.5") as (running, listening):
        error = asyncio.run(call_then_terminate(listening["address"], running))
        code = running.wait(5)

    assert isinstance(error, errors.Unavailable)
    assert code == 0


def test_a_call_that_arrives_with_the_drain_is_answered_or_refused(tmp_path: Path) -> None:
    """Whenever a call meets the end of a server, it ends with an answer or with leave to try elsewhere, and soon."""

    async def call(method: Any, delay_s: float) -> object:
        await asyncio.sleep(delay_s)
        try:
            return await client.call(method, corpus_pb2.GetStatsRequest(), timeout_s=2)
        except errors.Error as error:
            return type(error)

    async def call_around_sigterm(address: str, running: subprocess.Popen[bytes]) -> list[object]:
        methods = [corpus_pb2_grpc.CorpusStub(client.channel(address)).GetStats for _ in range(4)]
        calls = [asyncio.create_task(call(methods[number % 4], number / 1000)) for number in range(200)]
        await asyncio.sleep(0.1)
        running.send_signal(signal.SIGTERM)
        async with asyncio.timeout(10):
            return await asyncio.gather(*calls)

    with process(tmp_path / "ready", CALL_SECONDS="0.05", DRAIN_SECONDS="25") as (running, listening):
        ends = asyncio.run(call_around_sigterm(listening["address"], running))
        code = running.wait(10)

    kinds = {end if isinstance(end, type) else type(end) for end in ends}
    assert kinds <= {corpus_pb2.Stats, errors.Unavailable, errors.DeadlineExceeded}
    assert {corpus_pb2.Stats, errors.Unavailable} <= kinds
    assert code == 0


def test_a_drain_does_not_wait_for_those_who_only_watch(tmp_path: Path) -> None:
    """Whoever listens to the health of a server, or was never handed to it, does not keep it from ending."""

    async def watch_then_terminate(address: str, running: subprocess.Popen[bytes]) -> list[int]:
        stub = health_pb2_grpc.HealthStub(client.channel(address))
        responses = stub.Watch(health_pb2.HealthCheckRequest(), timeout=30)
        first = await responses.read()
        running.send_signal(signal.SIGTERM)
        second = await responses.read()
        await asyncio.to_thread(running.wait, 10)
        return [first.status, second.status]

    states = health_pb2.HealthCheckResponse
    with process(tmp_path / "ready", DRAIN_SECONDS="25") as (running, listening):
        seen = asyncio.run(watch_then_terminate(listening["address"], running))

        assert running.returncode == 0
    assert seen == [states.SERVING, states.NOT_SERVING]


def test_metrics_count_the_calls(tmp_path: Path) -> None:
    """Prometheus finds each method's calls, by their code."""

    async def call(address: str) -> None:
        method = corpus_pb2_grpc.CorpusStub(client.channel(address)).GetStats
        await client.call(method, corpus_pb2.GetStatsRequest(), timeout_s=5)

    with process(tmp_path / "ready", METRICS_PORT="0") as (_, listening):
        asyncio.run(call(listening["address"]))
        with urllib.request.urlopen(f"http://{listening['metrics']}/metrics", timeout=5) as response:
            text = response.read().decode()

    assert 'kernelvault_rpc_total{code="OK",method="/kernelvault.v1.Corpus/GetStats"} 1.0' in text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"CALL_SECOND": "1"}, "unknown variable KERNELVAULT_CALL_SECOND; did you mean KERNELVAULT_CALL_SECONDS"),
        (
            {"ADDRESS": "192.0.2.1:1", "ALLOW_PLAINTEXT": "true", "ALLOW_ANONYMOUS": "true"},
            "failed to listen on 192.0.2.1:1: the address is taken or not of this machine",
        ),
        ({"LOG_LEVEL": "loud"}, "KERNELVAULT_LOG_LEVEL='loud' is no level"),
    ],
)
def test_a_wrong_configuration_ends_the_process_with_one_line(settings: dict[str, str], message: str) -> None:
    """An operator gets a sentence and exit code 2, never a traceback."""
    environment = {**os.environ, **{f"KERNELVAULT_{name}": value for name, value in settings.items()}}

    ended = subprocess.run([sys.executable, PROGRAM], env=environment, capture_output=True, text=True, check=False)

    assert ended.returncode == 2
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


async def test_a_stream_that_its_caller_leaves_is_closed_without_complaint(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    """The writer's clean-up runs, and nothing is logged as an error."""
    closed = asyncio.Event()

    async def forever(request: Any, context: Any) -> Any:
        try:
            while True:
                yield corpus_pb2.ReadSnapshotResponse()
                await asyncio.sleep(0.01)
        finally:
            closed.set()

    method = corpus_pb2_grpc.CorpusStub(client.channel(await serve(ReadSnapshot=forever))).ReadSnapshot
    async with contextlib.aclosing(client.stream(method, corpus_pb2.ReadSnapshotRequest())) as responses:
        async for _ in responses:
            break
    await asyncio.wait_for(closed.wait(), 5)
    await asyncio.sleep(0.05)

    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
