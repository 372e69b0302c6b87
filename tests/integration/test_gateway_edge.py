"""Who may ask the gateway, how much, and whose fault is told how; before servers that answer as they are told."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import resource
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from kernelvault import errors
from kernelvault.access import caller
from kernelvault.config import ServerConfig
from kernelvault.v1 import compiler_pb2, compiler_pb2_grpc, corpus_pb2_grpc, kernel_pb2
from tests.access import TokensFile
from tests.certificates import Authority
from tests.conftest import Serve
from tests.gateway import Answer, SeedClient, kernel
from tests.services import Service

Report = compiler_pb2.VerificationReport
Update = compiler_pb2.VerifyCandidateResponse
SENT = kernel("add", "source", "module")


async def prepare(request: Any, context: Any) -> compiler_pb2.PrepareTaskResponse:
    """Finds no cases."""
    return compiler_pb2.PrepareTaskResponse(task=request.task)


async def create(request: Any, context: Any) -> kernel_pb2.Task:
    """Stores nothing."""
    return kernel_pb2.Task(name="tasks/add-0123456789ab")


async def mismatched(request: Any, context: Any) -> AsyncIterator[Update]:
    """Finds every candidate wrong."""
    yield Update(report=Report(verdict=Report.MISMATCHED, explanation="all wrong", fault_owner=Report.CANDIDATE))


class Front:
    """Starts gateways before a compiler and a corpus whose calls are given functions."""

    def __init__(self, serve: Serve, stack: contextlib.ExitStack) -> None:
        self._serve = serve
        self._stack = stack

    async def __call__(self, settings: ServerConfig | None = None, token: str = "", **given: Any) -> SeedClient:
        """A client of a new gateway. `given`: calls in lower case, and the gateway's variables in upper case."""
        calls = {
            "PrepareTask": prepare,
            "VerifyCandidate": mismatched,
            **{k: v for k, v in given.items() if callable(v)},
        }
        compiler = await self._serve(of=compiler_pb2_grpc, name="Compiler", settings=settings, **calls)
        corpus = await self._serve(of=corpus_pb2_grpc, name="Corpus", settings=settings, CreateTask=create)
        environment = {
            "KERNELVAULT_ADDRESS": "127.0.0.1:0",
            "KERNELVAULT_COMPILER_ADDRESS": compiler,
            "KERNELVAULT_CORPUS_ADDRESS": corpus,
            "KERNELVAULT_PROFILER_ADDRESS": corpus,
            **{f"KERNELVAULT_{name}": value for name, value in given.items() if isinstance(value, str)},
        }
        self.service = self._stack.enter_context(Service("orchestrator.gateway", environment))
        return SeedClient(self.service.address, token)


@pytest.fixture
def front(serve: Serve) -> Iterator[Front]:
    """Gateways that end with the test."""
    with contextlib.ExitStack() as stack:
        yield Front(serve, stack)


@pytest.fixture(scope="module")
def lonely(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeedClient]:
    """A client of a gateway without services, whose limits are small."""
    nowhere = {f"KERNELVAULT_{name}_ADDRESS": "127.0.0.1:1" for name in ("COMPILER", "PROFILER", "CORPUS")}
    limits = {"KERNELVAULT_MAX_BATCH": "3", "KERNELVAULT_MAX_BODY_BYTES": str(4 << 20)}
    folder = {"KERNELVAULT_REFERENCES_DIR": str(tmp_path_factory.mktemp("references"))}
    environment = {"KERNELVAULT_ADDRESS": "127.0.0.1:0", **nowhere, **limits, **folder}
    with Service("orchestrator.gateway", environment) as service:
        yield SeedClient(service.address)


async def ask(client: SeedClient, content: Any = None, path: str = "/run_code_batch") -> Answer:
    """A request beside this event loop, which serves what the gateway asks."""
    return await asyncio.to_thread(client.post, path, [SENT] if content is None else content)


def saying(error: errors.Error) -> Callable[..., Any]:
    """A unary call that fails."""

    async def fail(request: Any, context: Any) -> None:
        raise error

    return fail


def reporting(**fields: Any) -> Callable[..., Any]:
    """A verification that ends with this report."""

    async def verify(request: Any, context: Any) -> AsyncIterator[Update]:
        yield Update(report=Report(**fields))

    return verify


async def test_a_callers_token_goes_along_with_each_call(front: Front, known: TokensFile) -> None:
    """The services know who asks; so does their audit log, by the caller's own request id."""
    seen = []

    async def look(request: Any, context: Any) -> AsyncIterator[Update]:
        seen.append((caller.current().name, caller.request_id()))
        yield Update(report=Report(verdict=Report.MISMATCHED))

    token = known.add("alice", "submit")
    client = await front(ServerConfig(tokens_file=known.path), token, VerifyCandidate=look)
    answer = await ask(client)

    assert answer.status == 200, answer.body
    assert seen == [("alice", answer.headers["x-request-id"])]


@pytest.mark.parametrize(
    ("role", "status", "reason"),
    [("read", 403, "ROLE_NEEDED"), ("", 401, "MISSING_TOKEN"), (None, 401, "UNKNOWN_TOKEN")],
)
async def test_the_services_say_who_may(
    front: Front, known: TokensFile, role: str | None, status: int, reason: str
) -> None:
    """A gateway without a tokens file of its own, and with a token of its own, lends it to nobody."""
    own = known.add("gateway", "admin")
    token = "kv_guess" if role is None else known.add("alice", role) if role else ""
    client = await front(ServerConfig(tokens_file=known.path), token, TOKEN=own)
    answer = await ask(client)

    assert (answer.status, answer.body["reason"]) == (status, reason)


async def test_strangers_are_refused_before_their_bodies_are_read(front: Front, known: TokensFile) -> None:
    """The answer comes although the body never does."""
    known.add("alice", "submit")
    await front(TOKENS_FILE=str(known.path))
    host, _, port = front.service.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"POST /evaluate HTTP/1.1\r\nHost: gateway\r\nContent-Length: 1000\r\n\r\n")

    line = await asyncio.wait_for(reader.readline(), 10)
    writer.close()

    assert line.split()[1] == b"401"


async def test_a_gateway_for_others_wants_tls_and_tokens(front: Front) -> None:
    """Off the loopback interface it does not start in plain text."""
    with pytest.raises(RuntimeError, match="KERNELVAULT_TLS_CERT_FILE"):
        await front(ADDRESS="0.0.0.0:0")


async def test_others_reach_it_by_tls_and_tokens(front: Front, known: TokensFile, authority: Authority) -> None:
    """It shows a new certificate without a restart."""
    token = known.add("alice", "submit")
    pair = authority.issue("gateway")
    files = {"TLS_CERT_FILE": str(pair.cert), "TLS_KEY_FILE": str(pair.key), "TOKENS_FILE": str(known.path)}
    await front(ADDRESS="0.0.0.0:0", **files)
    port = int(front.service.address.rpartition(":")[2])
    trusting = ssl.create_default_context(cafile=str(authority.ca))

    def asked(header: str) -> tuple[int, int]:
        """The status, and the number of the certificate that was shown."""
        connection = http.client.HTTPSConnection("localhost", port, context=trusting, timeout=30)
        connection.request("POST", "/run_code_batch", json.dumps([SENT]), {"Authorization": header})
        shown = connection.sock.getpeercert() or {}
        status = connection.getresponse().status
        connection.close()
        return status, int(str(shown["serialNumber"]), 16)

    stranger, _ = await asyncio.to_thread(asked, "Bearer kv_guess")
    served, first = await asyncio.to_thread(asked, f"Bearer {token}")
    pair.replace_by(authority.issue("other"))
    later = first
    while later == first:
        _, later = await asyncio.to_thread(asked, f"Bearer {token}")

    assert (stranger, served) == (401, 200)


@pytest.mark.parametrize(
    ("content", "status", "where"),
    [
        (b"{", 400, ["body"]),
        (b"\xff", 400, ["body"]),
        ({"kernel_name": "one"}, 422, ["body"]),
        ([{**SENT, "hip_code": 3}], 422, ["body", 0, "hip_code"]),
        ([{**SENT, "hip_code": ""}], 422, ["body", 0, "hip_code"]),
        ([SENT, {**SENT, "atol": -1}], 422, ["body", 1, "atol"]),
        ([{**SENT, "rtol": float("inf")}], 422, ["body", 0, "rtol"]),
        ([{**SENT, "run_timeout_s": 0}], 422, ["body", 0, "run_timeout_s"]),
        ([{**SENT, "pytorch_module_code": "é" * (1 << 19) + "x"}], 422, ["body", 0, "pytorch_module_code"]),
        ([{name: value for name, value in SENT.items() if name != "hip_code"}], 422, ["body", 0, "hip_code"]),
        ([SENT] * 4, 422, ["body"]),
    ],
)
async def test_bad_input_names_its_field(lonely: SeedClient, content: Any, status: int, where: list[Any]) -> None:
    """In the form that FastAPI, and so the seed system, has."""
    answer = await ask(lonely, content)

    assert (answer.status, answer.body["detail"][0]["loc"]) == (status, where)
    assert answer.body["detail"][0]["msg"]


async def test_an_evaluation_of_another_protocol_is_refused(lonely: SeedClient) -> None:
    """`protocol_version` is 1."""
    answer = await ask(lonely, {"protocol_version": 2, "code": "x", "filename": "a.py"}, "/evaluate")

    assert (answer.status, answer.body["detail"][0]["loc"]) == (422, ["body", "protocol_version"])


async def test_a_body_above_the_limit_is_refused(lonely: SeedClient) -> None:
    """Before it is read."""
    host, _, port = lonely.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"POST /run_code HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (5 << 20))

    line = await asyncio.wait_for(reader.readline(), 10)
    writer.close()

    assert line.split()[1] == b"413"


async def test_a_body_of_unknown_length_is_cut_off(lonely: SeedClient) -> None:
    """Chunks count, too."""
    host, _, port = lonely.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"POST /run_code HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(5):
        writer.write(b"100000\r\n" + b" " * (1 << 20) + b"\r\n")

    line = await asyncio.wait_for(reader.readline(), 10)
    writer.close()

    assert line.split()[1] == b"413"


async def test_a_length_that_is_no_number_is_refused(lonely: SeedClient) -> None:
    """By the HTTP library, which ends the connection."""
    host, _, port = lonely.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"POST /run_code HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n")

    line = await asyncio.wait_for(reader.readline(), 10)
    writer.close()

    assert line.split()[1] == b"400"


async def test_health_says_what_is_away(lonely: SeedClient) -> None:
    """Without a token, as gRPC's health does."""
    answer = await asyncio.to_thread(lonely.health)

    assert (answer.status, answer.body["available"]) == (503, False)
    assert set(answer.body["services"].values()) == {"UNREACHABLE"}


def test_it_starts_in_under_a_second_of_cpu_time() -> None:
    """As every server does; elapsed time says more of the machine than of us."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with Service("orchestrator.gateway", {"KERNELVAULT_ADDRESS": "127.0.0.1:0"}):
        pass
    after = resource.getrusage(resource.RUSAGE_CHILDREN)

    assert after.ru_utime - before.ru_utime < 1


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (errors.Unavailable("STORE_GONE", "no store", 1), "STORE_GONE"),
        (errors.Internal("INTERNAL", "broken"), "INTERNAL"),
        (errors.FailedPrecondition("BLOB_MISSING", "lost"), "BLOB_MISSING"),
        (errors.ResourceExhausted("SPENT", "none left"), "SPENT"),
        (errors.InvalidArgument("action.targets", "unknown"), "INVALID_FIELD"),
    ],
)
async def test_a_fault_of_the_platform_is_503(front: Front, error: errors.Error, reason: str) -> None:
    """With the time to come back, and without anything that a reward could be made of."""
    client = await front(PrepareTask=saying(error), PATIENCE_SECONDS="0.1")
    answer = await ask(client)

    assert (answer.status, answer.body["reason"]) == (503, reason)
    assert int(answer.headers["Retry-After"]) >= 1
    assert set(answer.body) == {"detail", "reason", "request_id"}


async def test_a_report_that_blames_the_platform_is_503(front: Front) -> None:
    """Whatever its verdict."""
    report = reporting(verdict=Report.CRASHED, fault_owner=Report.PLATFORM, explanation="the disk is full")
    answer = await ask(await front(VerifyCandidate=report))

    assert (answer.status, answer.body["detail"]) == (503, "the disk is full")


async def test_a_report_that_blames_the_reference_names_it(front: Front) -> None:
    """The candidate has nothing to do with it."""
    report = reporting(verdict=Report.CRASHED, fault_owner=Report.REFERENCE, explanation="the reference raised")
    answer = await ask(await front(VerifyCandidate=report))

    assert (answer.status, answer.body["detail"][0]["loc"]) == (422, ["body", 0, "pytorch_module_code"])


async def test_a_full_queue_is_waited_for(front: Front) -> None:
    """Longer than for a service that is away."""
    began = time.monotonic()

    async def busy(request: Any, context: Any) -> AsyncIterator[Update]:
        if time.monotonic() - began < 2:
            raise errors.Unavailable("QUEUE_FULL", "busy", 0.3)
        yield Update(report=Report(verdict=Report.MISMATCHED))

    answer = await ask(await front(VerifyCandidate=busy, PATIENCE_SECONDS="0.1"))

    assert answer.status == 200


async def test_equal_tasks_are_prepared_once(front: Front) -> None:
    """An RL loop sends the same module with every sample."""
    prepared = []

    async def count(request: Any, context: Any) -> compiler_pb2.PrepareTaskResponse:
        prepared.append(request.task.title)
        return await prepare(request, context)

    client = await front(PrepareTask=count)
    first = await ask(client, [SENT] * 8)
    second = await ask(client, [SENT, {**SENT, "kernel_name": "Other Name!"}])

    assert (first.status, second.status) == (200, 200)
    assert prepared == ["add", "other-name"]


async def test_a_connection_serves_one_request_after_the_other(front: Front) -> None:
    """As HTTP clients that pool their connections expect."""
    await front()
    host, _, port = front.service.address.rpartition(":")

    def thrice() -> list[int]:
        connection = http.client.HTTPConnection(host, int(port), timeout=30)
        statuses = []
        for body in (json.dumps([SENT]), "{", json.dumps([SENT])):
            connection.request("POST", "/run_code_batch", body)
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
        connection.close()
        return statuses

    assert await asyncio.to_thread(thrice) == [200, 400, 200]


async def test_only_so_many_are_judged_at_once(front: Front) -> None:
    """The rest of a batch waits for its turn."""
    running, most = 0, 0

    async def slow(request: Any, context: Any) -> AsyncIterator[Update]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05)
        running -= 1
        yield Update(report=Report(verdict=Report.MISMATCHED))

    answer = await ask(await front(VerifyCandidate=slow, MAX_EVALUATIONS="3"), [SENT] * 12)

    assert (answer.status, answer.body["batch_size"], most) == (200, 12, 3)


async def test_too_many_requests_are_told_to_come_back(front: Front) -> None:
    """What is running goes on."""
    here, go = asyncio.Event(), asyncio.Event()

    async def held(request: Any, context: Any) -> AsyncIterator[Update]:
        here.set()
        await go.wait()
        yield Update(report=Report(verdict=Report.MISMATCHED))

    client = await front(VerifyCandidate=held, MAX_REQUESTS="1")
    first = asyncio.create_task(ask(client))
    await here.wait()
    second = await ask(client)
    go.set()

    assert (second.status, second.body["reason"]) == (503, "QUEUE_FULL")
    assert (await first).status == 200


async def test_what_a_caller_leaves_is_cancelled(front: Front) -> None:
    """A training run that was killed keeps no compiler busy."""
    here, cancelled = asyncio.Event(), asyncio.Event()

    async def held(request: Any, context: Any) -> AsyncIterator[Update]:
        here.set()
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()
        yield Update()

    await front(VerifyCandidate=held)
    host, _, port = front.service.address.rpartition(":")
    body = json.dumps([SENT]).encode()
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"POST /run_code_batch HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await asyncio.wait_for(here.wait(), 10)

    await asyncio.wait_for(cancelled.wait(), 10)


async def test_a_request_has_an_end(front: Front) -> None:
    """Not done in time is the platform's fault."""

    async def forever(request: Any, context: Any) -> AsyncIterator[Update]:
        await asyncio.sleep(60)
        yield Update()

    answer = await ask(await front(VerifyCandidate=forever, REQUEST_TIMEOUT_SECONDS="1"))

    assert answer.status == 503
    assert "Retry-After" in answer.headers


async def test_running_requests_are_finished_on_sigterm(front: Front) -> None:
    """And no new ones are taken."""
    here = asyncio.Event()

    async def slow(request: Any, context: Any) -> AsyncIterator[Update]:
        here.set()
        await asyncio.sleep(0.5)
        yield Update(report=Report(verdict=Report.MISMATCHED))

    client = await front(VerifyCandidate=slow, DRAIN_SECONDS="10")
    asked = asyncio.create_task(ask(client))
    await here.wait()
    front.service.process.terminate()

    assert (await asked).status == 200
    assert await asyncio.to_thread(front.service.process.wait, 10) == 0


async def test_other_paths_and_methods_are_told_apart(front: Front) -> None:
    """As any HTTP server does, in JSON."""
    client = await front()

    assert (await ask(client, path="/elsewhere")).status == 404
    assert (await ask(client, path="/health")).status == 405
    assert (await ask(client, path="/evaluate")).status == 404
