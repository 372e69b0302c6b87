"""Certificates over real sockets: who is trusted, and how that changes without a restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from kernelvault import client, errors
from kernelvault.access import caller, roles
from kernelvault.config import ClientConfig, ConfigError, ServerConfig
from kernelvault.services import Client
from kernelvault.v1 import corpus_pb2, corpus_pb2_grpc
from tests.access import Stats, ask, one, refusal, showing, shown_by
from tests.certificates import Authority
from tests.conftest import Serve


async def test_a_certificate_makes_a_server_trusted(serve: Serve, authority: Authority) -> None:
    """Calls go encrypted to a server whose certificate the client's authority vouches for."""
    address = await serve(GetStats=one, settings=showing(authority.issue("server")))

    assert await ask(address, shown_by(authority)) == Stats(sample_count=1)


async def test_a_server_of_another_authority_is_not_trusted(serve: Serve, authority: Authority, tmp_path: Path) -> None:
    """Whoever sits on the way cannot answer in its place."""
    address = await serve(GetStats=one, settings=showing(Authority(tmp_path, "other").issue("server")))

    code, details = await refusal(address, shown_by(authority))

    assert code == grpc.StatusCode.UNAVAILABLE
    assert "CERTIFICATE_VERIFY_FAILED" in details


async def test_a_server_with_an_expired_certificate_is_not_trusted(serve: Serve, authority: Authority) -> None:
    """Its time is over, whoever vouched for it."""
    address = await serve(GetStats=one, settings=showing(authority.issue("server", expired=True)))

    code, details = await refusal(address, shown_by(authority))

    assert code == grpc.StatusCode.UNAVAILABLE
    assert "certificate has expired" in details


async def test_a_server_with_another_name_is_not_trusted(serve: Serve, authority: Authority) -> None:
    """One service of a cluster cannot play another one."""
    address = await serve(GetStats=one, settings=showing(authority.issue("server", ["profiler.example"])))

    code, details = await refusal(address, shown_by(authority))

    assert code == grpc.StatusCode.UNAVAILABLE
    assert "Hostname Verification Check failed" in details


async def test_a_server_may_be_known_by_a_name_that_is_not_its_address(serve: Serve, authority: Authority) -> None:
    """`KERNELVAULT_TLS_SERVER_NAME` is for forwarded ports and lists of addresses."""
    address = await serve(GetStats=one, settings=showing(authority.issue("server", ["profiler.example"])))

    trusting = shown_by(authority, tls_server_name="profiler.example")

    assert await ask(address, trusting) == Stats(sample_count=1)


async def test_replicas_share_a_name(serve: Serve, authority: Authority) -> None:
    """A list of addresses is one server to a client: its certificates hold one name."""
    pair = authority.issue("server", ["corpus.example"])
    addresses = [await serve(GetStats=one, settings=showing(pair)) for _ in range(2)]

    trusting = shown_by(authority, tls_server_name="corpus.example")

    assert await ask(f"ipv4:{','.join(addresses)}", trusting) == Stats(sample_count=1)


async def test_plain_text_does_not_reach_a_server_that_speaks_tls(serve: Serve, authority: Authority) -> None:
    """There is no falling back."""
    address = await serve(GetStats=one, settings=showing(authority.issue("server")))

    assert (await refusal(address, ClientConfig()))[0] == grpc.StatusCode.UNAVAILABLE


async def test_a_client_with_tls_does_not_fall_back_to_plain_text(serve: Serve, authority: Authority) -> None:
    """A token never goes to a server that shows no certificate."""
    address = await serve(GetStats=one)

    assert (await refusal(address, shown_by(authority)))[0] == grpc.StatusCode.UNAVAILABLE


async def test_mutual_tls_lets_in_whom_the_authority_vouches_for(serve: Serve, authority: Authority) -> None:
    """A caller with a certificate is known by its name and, where there are no tokens, may do everything."""
    seen = []

    async def look(request: Any, context: Any) -> Stats:
        seen.append(caller.current())
        return Stats()

    settings = showing(authority.issue("server"), tls_client_ca_file=authority.ca)
    address = await serve(GetStats=look, settings=settings)
    await ask(address, shown_by(authority, authority.issue("robot", ["robot.example"])))

    assert seen == [caller.Caller("robot.example", roles.EVERY, "robot.example")]


@pytest.mark.parametrize("which", ["none", "another authority's", "expired"])
async def test_mutual_tls_keeps_others_out(serve: Serve, authority: Authority, tmp_path: Path, which: str) -> None:
    """No certificate, a stranger's or an old one: the connection ends before any call."""
    reached = []

    async def note(request: Any, context: Any) -> Stats:
        reached.append(request)
        return Stats()

    pairs = {
        "none": None,
        "another authority's": Authority(tmp_path, "other").issue("robot"),
        "expired": authority.issue("robot", expired=True),
    }
    settings = showing(authority.issue("server"), tls_client_ca_file=authority.ca)
    address = await serve(GetStats=note, settings=settings)

    code, _ = await refusal(address, shown_by(authority, pairs[which]))

    assert code == grpc.StatusCode.UNAVAILABLE
    assert reached == []


async def test_health_is_behind_mutual_tls_too(serve: Serve, authority: Authority) -> None:
    """A client that is not trusted learns that, not that nothing answers."""
    settings = showing(authority.issue("server"), tls_client_ca_file=authority.ca)
    address = await serve(GetStats=one, settings=settings)

    async with client.channel(address, shown_by(authority)) as channel:
        assert await client.health(channel, timeout_s=5) == "NOT_TRUSTED"
    async with Client({"corpus": address}, settings=shown_by(authority)) as everything:
        with pytest.raises(errors.Unavailable, match="one side does not trust the other") as caught:
            await everything.require("corpus")
    assert caught.value.reason == "NOT_TRUSTED"


async def test_a_server_shows_a_new_certificate_without_a_restart(
    serve: Serve, authority: Authority, tmp_path: Path
) -> None:
    """The authority changes: who trusts the new one is served, who trusts only the old one no longer."""
    later = Authority(tmp_path, "later")
    pair = authority.issue("server")
    address = await serve(GetStats=one, settings=showing(pair))
    await ask(address, shown_by(authority))

    pair.replace_by(later.issue("server"))

    assert await ask(address, shown_by(later)) == Stats(sample_count=1)
    assert (await refusal(address, shown_by(authority)))[0] == grpc.StatusCode.UNAVAILABLE


async def test_a_server_trusts_another_authority_of_callers_without_a_restart(
    serve: Serve, authority: Authority, tmp_path: Path
) -> None:
    """While both stand in the file, the old and the new certificates are good."""
    later = Authority(tmp_path, "later")
    trusted = tmp_path / "callers.pem"
    trusted.write_bytes(authority.ca.read_bytes())
    address = await serve(GetStats=one, settings=showing(authority.issue("server"), tls_client_ca_file=trusted))
    old, new = authority.issue("old"), later.issue("new")
    assert (await refusal(address, shown_by(authority, new)))[0] == grpc.StatusCode.UNAVAILABLE

    trusted.write_bytes(authority.ca.read_bytes() + later.ca.read_bytes())
    assert await ask(address, shown_by(authority, old)) == Stats(sample_count=1)
    assert await ask(address, shown_by(authority, new)) == Stats(sample_count=1)

    trusted.write_bytes(later.ca.read_bytes())
    assert await ask(address, shown_by(authority, new)) == Stats(sample_count=1)
    assert (await refusal(address, shown_by(authority, old)))[0] == grpc.StatusCode.UNAVAILABLE


async def test_a_certificate_that_does_not_fit_its_key_changes_nothing(serve: Serve, authority: Authority) -> None:
    """A half-made change is not shown, and is taken once it is whole."""
    pair, other = authority.issue("server"), authority.issue("other", ["profiler.example"])
    address = await serve(GetStats=one, settings=showing(pair))

    pair.cert.write_bytes(other.cert.read_bytes())
    assert await ask(address, shown_by(authority)) == Stats(sample_count=1)

    pair.key.write_bytes(other.key.read_bytes())
    assert "Hostname" in (await refusal(address, shown_by(authority)))[1]


async def test_a_client_shows_a_new_certificate_without_a_restart(serve: Serve, authority: Authority) -> None:
    """Its channel goes on with the new one, and a stream that began with the old one is not broken."""
    go_on = asyncio.Event()

    async def who(request: Any, context: Any) -> Stats:
        return Stats(by_model={caller.current().name: 1})

    async def slow(request: Any, context: Any) -> AsyncIterator[corpus_pb2.ReadSnapshotResponse]:
        yield corpus_pb2.ReadSnapshotResponse(offset=0)
        await go_on.wait()
        yield corpus_pb2.ReadSnapshotResponse(offset=1)

    settings = showing(authority.issue("server"), tls_client_ca_file=authority.ca)
    address = await serve(GetStats=who, ReadSnapshot=slow, settings=settings)
    pair = authority.issue("robot", ["first.example"])
    async with client.channel(address, shown_by(authority, pair)) as channel:
        stub = corpus_pb2_grpc.CorpusStub(channel)
        before = await client.call(stub.GetStats, corpus_pb2.GetStatsRequest(), timeout_s=5)
        stream = client.stream(stub.ReadSnapshot, corpus_pb2.ReadSnapshotRequest(), timeout_s=10)
        first = await anext(stream)

        pair.replace_by(authority.issue("second", ["second.example"]))
        after = await client.call(stub.GetStats, corpus_pb2.GetStatsRequest(), timeout_s=5)
        go_on.set()
        rest = [response.offset async for response in stream]

    assert [*before.by_model, *after.by_model] == ["first.example", "second.example"]
    assert (first.offset, rest) == (0, [1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tls_cert_file": "server.pem"}, "set both KERNELVAULT_TLS_CERT_FILE and KERNELVAULT_TLS_KEY_FILE"),
        ({"tls_client_ca_file": "ca.pem"}, "set both KERNELVAULT_TLS_CERT_FILE and KERNELVAULT_TLS_KEY_FILE"),
        ({"tls_cert_file": "none.pem", "tls_key_file": "server.key"}, "failed to read KERNELVAULT_TLS_CERT_FILE="),
        ({"tls_cert_file": "server.pem", "tls_key_file": "other.key"}, "KEY_VALUES_MISMATCH"),
        ({"tls_cert_file": "server.key", "tls_key_file": "server.key"}, "they are not a PEM certificate chain"),
        (
            {"tls_cert_file": "server.pem", "tls_key_file": "server.key", "tls_client_ca_file": "server.key"},
            "holds no PEM certificates",
        ),
        ({"tokens_file": "none"}, "failed to read KERNELVAULT_TOKENS_FILE="),
        ({"audit_file": "none/audit"}, "failed to write KERNELVAULT_AUDIT_FILE="),
    ],
)
async def test_files_that_cannot_be_used_end_a_start(
    serve: Serve, authority: Authority, settings: dict[str, str], message: str
) -> None:
    """With the variable, the file and what is wrong."""
    authority.issue("server")
    authority.issue("other")
    given: dict[str, Any] = {name: authority.folder / file for name, file in settings.items()}

    with pytest.raises(ConfigError, match=message):
        await serve(GetStats=one, settings=ServerConfig(**given))
