"""Tokens and roles over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from kernelvault import client, errors
from kernelvault.access import caller, roles
from kernelvault.config import ClientConfig, ServerConfig
from kernelvault.v1 import corpus_pb2, corpus_pb2_grpc, kernel_pb2, storage_pb2, storage_pb2_grpc
from tests.access import Stats, TokensFile, ask, one, refusal, showing, shown_by
from tests.certificates import Authority
from tests.conftest import Serve

PROGRAM = Path(__file__).parents[1] / "programs" / "slow_service.py"
GRPCURL = Path(sys.executable).with_name("grpcurl")
YESTERDAY = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)


async def test_a_token_opens_what_its_role_allows(serve: Serve, known: TokensFile) -> None:
    """The servicer, and whoever it asks, knows who calls."""
    seen = []

    async def look(request: Any, context: Any) -> Stats:
        seen.append(caller.current())
        return Stats()

    token = known.add("alice", "submit")
    address = await serve(GetStats=look, settings=ServerConfig(tokens_file=known.path))
    await ask(address, ClientConfig(token=token))

    assert seen == [caller.Caller("alice", roles.parse("submit"))]


async def test_callers_at_the_same_time_are_told_apart(serve: Serve, known: TokensFile) -> None:
    """Each call knows its own caller, whatever runs beside it."""
    names = [f"caller{number}" for number in range(8)]
    all_here = asyncio.Barrier(len(names))

    async def look(request: Any, context: Any) -> Stats:
        await all_here.wait()
        return Stats(by_model={caller.current().name: 1})

    given = {name: known.add(name, "read") for name in names}
    address = await serve(GetStats=look, settings=ServerConfig(tokens_file=known.path))
    answers = await asyncio.gather(*(ask(address, ClientConfig(token=token)) for token in given.values()))

    assert [list(answer.by_model) for answer in answers] == [[name] for name in names]


async def test_a_call_without_a_token_is_refused(serve: Serve, known: TokensFile) -> None:
    """It is told what to send."""
    address = await serve(GetStats=one, settings=ServerConfig(tokens_file=known.path))

    assert await refusal(address, ClientConfig()) == (
        grpc.StatusCode.UNAUTHENTICATED,
        "the call has no token: set KERNELVAULT_TOKEN_FILE or KERNELVAULT_TOKEN, or send the header "
        "`authorization: Bearer TOKEN`",
    )


async def test_an_unknown_token_is_refused(serve: Serve, known: TokensFile) -> None:
    """Nothing is said of those that are known."""
    known.add("alice", "admin")
    address = await serve(GetStats=one, settings=ServerConfig(tokens_file=known.path))

    assert await refusal(address, ClientConfig(token="kv_guess")) == (
        grpc.StatusCode.UNAUTHENTICATED,
        "the call's token is none of this server's; ask for a new one",
    )


async def test_an_expired_token_is_refused(serve: Serve, known: TokensFile) -> None:
    """Its owner learns since when."""
    token = known.add("alice", "admin", expires=YESTERDAY)
    address = await serve(GetStats=one, settings=ServerConfig(tokens_file=known.path))

    assert await refusal(address, ClientConfig(token=token)) == (
        grpc.StatusCode.UNAUTHENTICATED,
        f"the token expired on {YESTERDAY:%Y-%m-%d at %H:%M:%S} UTC; ask for a new one",
    )


async def test_another_scheme_is_refused(serve: Serve, known: TokensFile) -> None:
    """`Basic`, or a token without its scheme."""
    token = known.add("alice", "admin")
    address = await serve(GetStats=one, settings=ServerConfig(tokens_file=known.path))

    async with client.channel(address) as channel:
        method = corpus_pb2_grpc.CorpusStub(channel).GetStats
        for value in (token, f"Basic {token}", "Bearer ", ""):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await method(corpus_pb2.GetStatsRequest(), timeout=5, metadata=[("authorization", value)])
            assert caught.value.details() == "the authorization header is not one `Bearer TOKEN`"


async def test_a_wrong_role_is_refused(serve: Serve, known: TokensFile) -> None:
    """The caller learns which role the call needs; the servicer never hears of it."""
    reached = []

    async def note(request: Any, context: Any) -> kernel_pb2.Task:
        reached.append(request)
        return kernel_pb2.Task()

    token = known.add("bob", "read,train")
    address = await serve(CreateTask=note, settings=ServerConfig(tokens_file=known.path))

    async with client.channel(address, ClientConfig(token=token)) as channel:
        method = corpus_pb2_grpc.CorpusStub(channel).CreateTask
        with pytest.raises(errors.PermissionDenied) as caught:
            await client.call(method, corpus_pb2.CreateTaskRequest(), timeout_s=5)

    assert str(caught.value) == "CreateTask needs the role submit; bob has read, train"
    assert (caught.value.reason, caught.value.metadata["needed"]) == ("ROLE_NEEDED", "submit")
    assert reached == []


@pytest.mark.parametrize(("allowed", "opens"), [("submit", True), ("service", True), ("read", False), ("train", False)])
async def test_streams_of_requests_are_checked_before_they_are_read(
    serve: Serve, known: TokensFile, allowed: str, opens: bool
) -> None:
    """A client stream gets its status, not a broken pipe."""

    async def write(requests: Any, context: Any) -> storage_pb2.WriteBlobResponse:
        await context.send_initial_metadata(client.ACCEPTED)
        async for _ in requests:
            pass
        return storage_pb2.WriteBlobResponse()

    token = known.add("worker", allowed)
    settings = ServerConfig(tokens_file=known.path)
    address = await serve(of=storage_pb2_grpc, name="BlobStore", WriteBlob=write, settings=settings)
    async with client.channel(address, ClientConfig(token=token)) as channel:
        method = storage_pb2_grpc.BlobStoreStub(channel).WriteBlob
        pieces = [storage_pb2.WriteBlobRequest(data=b"x" * 1000) for _ in range(20)]
        expected: Any = contextlib.nullcontext() if opens else pytest.raises(errors.PermissionDenied)
        with expected:
            await client.upload(method, lambda: pieces, timeout_s=5)


@pytest.mark.parametrize("method", ["CreateTask", "ReadSnapshot"])
async def test_a_strangers_request_is_not_even_read(serve: Serve, known: TokensFile, method: str) -> None:
    """What cannot be parsed is refused for its caller, not for its content."""
    address = await serve(GetStats=one, settings=ServerConfig(tokens_file=known.path))

    async with client.channel(address) as channel:
        path = f"/kernelvault.v1.Corpus/{method}"
        if method == "ReadSnapshot":
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                _ = [response async for response in channel.unary_stream(path)(b"\xff" * 1000, timeout=5)]
        else:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await channel.unary_unary(path)(b"\xff" * 1000, timeout=5)

    assert caught.value.code() == grpc.StatusCode.UNAUTHENTICATED


async def test_streams_of_responses_are_checked(serve: Serve, known: TokensFile) -> None:
    """Nothing of the stream is sent to a caller without a role for it."""

    async def some(request: Any, context: Any) -> AsyncIterator[corpus_pb2.ReadSnapshotResponse]:
        yield corpus_pb2.ReadSnapshotResponse(offset=3)

    token = known.add("reader", "read")
    address = await serve(ReadSnapshot=some, settings=ServerConfig(tokens_file=known.path))

    async def read(settings: ClientConfig) -> list[int]:
        async with client.channel(address, settings) as channel:
            method = corpus_pb2_grpc.CorpusStub(channel).ReadSnapshot
            responses = client.stream(method, corpus_pb2.ReadSnapshotRequest(), timeout_s=5)
            return [response.offset async for response in responses]

    assert await read(ClientConfig(token=token)) == [3]
    with pytest.raises(errors.Unauthenticated):
        await read(ClientConfig())


async def test_health_needs_no_token_and_reflection_does(serve: Serve, known: TokensFile) -> None:
    """Probes have none; what there is to call is told to readers."""
    token = known.add("reader", "read")
    address = await serve(GetStats=one, settings=ServerConfig(tokens_file=known.path))

    async with client.channel(address) as channel:
        assert await client.health(channel, timeout_s=5) == "SERVING"
    command = [GRPCURL, "-plaintext", address, "list"]
    refused = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False)
    command[1:1] = ["-H", f"authorization: Bearer {token}"]
    listed = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False)

    assert "has no token" in refused.stderr
    assert "kernelvault.v1.Corpus" in listed.stdout


async def test_tokens_are_replaced_without_a_restart(serve: Serve, known: TokensFile, tmp_path: Path) -> None:
    """The new token is valid beside the old one; the client's file changes; the old one is taken out."""
    held = tmp_path / "token"
    old = known.add("alice", "read")
    held.write_text(old + "\n")
    address = await serve(GetStats=one, settings=ServerConfig(tokens_file=known.path))
    async with client.channel(address, ClientConfig(token_file=held)) as channel:
        method = corpus_pb2_grpc.CorpusStub(channel).GetStats

        async def call() -> Stats:
            return await client.call(method, corpus_pb2.GetStatsRequest(), timeout_s=5)

        await call()
        new = known.add("alice", "read")
        assert await ask(address, ClientConfig(token=new)) == await call() == Stats(sample_count=1)

        known.path.write_text(known.path.read_text().splitlines()[1] + "\n")
        with pytest.raises(errors.Unauthenticated):
            await call()
        held.write_text(new)
        assert await call() == Stats(sample_count=1)


async def test_a_malformed_tokens_file_leaves_the_old_tokens_valid(serve: Serve, known: TokensFile) -> None:
    """A typing error of an operator locks nobody out; the next good file counts."""
    token = known.add("alice", "read")
    address = await serve(GetStats=one, settings=ServerConfig(tokens_file=known.path))
    good = known.path.read_text()

    known.path.write_text("alice raed sha256:0\n")
    assert await ask(address, ClientConfig(token=token)) == Stats(sample_count=1)
    known.path.write_text(good.replace("alice", "carol"))
    assert await ask(address, ClientConfig(token=token)) == Stats(sample_count=1)
    known.path.write_text("")
    assert (await refusal(address, ClientConfig(token=token)))[0] == grpc.StatusCode.UNAUTHENTICATED


async def test_a_certificate_may_stand_for_a_token(serve: Serve, authority: Authority, known: TokensFile) -> None:
    """A service that is known by its certificate needs no token; another one of the same authority does."""
    known.path.write_text("compiler read certificate:compiler.example\n")
    settings = showing(authority.issue("server"), tls_client_ca_file=authority.ca, tokens_file=known.path)
    address = await serve(GetStats=one, settings=settings)
    compiler, other = (authority.issue(name, [f"{name}.example"]) for name in ("compiler", "other"))

    assert await ask(address, shown_by(authority, compiler)) == Stats(sample_count=1)
    assert (await refusal(address, shown_by(authority, other)))[0] == grpc.StatusCode.UNAUTHENTICATED


async def test_a_token_counts_before_a_certificate(serve: Serve, authority: Authority, known: TokensFile) -> None:
    """A call is its token's owner's, and both names are known."""
    seen = []

    async def look(request: Any, context: Any) -> Stats:
        seen.append(caller.current())
        return Stats()

    token = known.add("alice", "read")
    settings = showing(authority.issue("server"), tls_client_ca_file=authority.ca, tokens_file=known.path)
    address = await serve(GetStats=look, settings=settings)
    await ask(address, shown_by(authority, authority.issue("robot", ["robot.example"]), token=token))

    assert seen == [caller.Caller("alice", roles.parse("read"), "robot.example")]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ADDRESS": "0.0.0.0:0"}, "TLS is off; set KERNELVAULT_TLS_CERT_FILE"),
        ({"ADDRESS": "0.0.0.0:0", "ALLOW_PLAINTEXT": "true"}, "anybody could call; set KERNELVAULT_TOKENS_FILE"),
        ({"TLS_CERT_FILE": "/none"}, "set both KERNELVAULT_TLS_CERT_FILE and KERNELVAULT_TLS_KEY_FILE"),
        ({"TOKENS_FILE": "/none"}, "failed to read KERNELVAULT_TOKENS_FILE='/none': No such file or directory"),
    ],
)
def test_an_unsafe_service_does_not_start(settings: dict[str, str], message: str) -> None:
    """It ends with 2 and one line that says what to set."""
    environment = {**os.environ, **{f"KERNELVAULT_{name}": value for name, value in settings.items()}}

    ended = subprocess.run([sys.executable, PROGRAM], env=environment, capture_output=True, text=True, check=False)

    assert ended.returncode == 2
    assert message in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
