"""Servers that know their callers, and callers that show who they are, for tests."""

from __future__ import annotations

import dataclasses
import datetime
from pathlib import Path
from typing import Any

import grpc
import pytest

from kernelvault import client
from kernelvault.access import roles, tokens
from kernelvault.config import ClientConfig, ServerConfig
from kernelvault.v1 import corpus_pb2, corpus_pb2_grpc
from tests.certificates import Authority, Pair

Stats = corpus_pb2.Stats


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """Whom servers and clients of a test trust."""
    return Authority(tmp_path)


@dataclasses.dataclass
class TokensFile:
    """A tokens file, and the tokens in it."""

    path: Path

    def add(self, name: str, allowed: str, *, expires: datetime.datetime | None = None) -> str:
        """A new token in a new line."""
        token, entry = tokens.create(name, roles.parse(allowed), expires)
        with self.path.open("a") as file:
            file.write(entry.line() + "\n")
        return token


@pytest.fixture
def known(tmp_path: Path) -> TokensFile:
    """An empty tokens file."""
    path = tmp_path / "tokens"
    path.touch()
    return TokensFile(path)


async def one(request: Any, context: Any) -> Stats:
    """Answers GetStats."""
    return Stats(sample_count=1)


def showing(pair: Pair, **settings: Any) -> ServerConfig:
    """A server with a certificate."""
    return ServerConfig(drain_seconds=0.1, tls_cert_file=pair.cert, tls_key_file=pair.key, **settings)


def shown_by(authority: Authority, pair: Pair | None = None, **settings: Any) -> ClientConfig:
    """A client that trusts `authority`, with a certificate of its own."""
    if pair:
        settings |= {"tls_client_cert_file": pair.cert, "tls_client_key_file": pair.key}
    return ClientConfig(tls_ca_file=authority.ca, **settings)


async def ask(address: str, settings: ClientConfig) -> Stats:
    """One call; raises grpc's own error, before the client would try again."""
    async with client.channel(address, settings) as channel:
        method = corpus_pb2_grpc.CorpusStub(channel).GetStats
        answer = await method(corpus_pb2.GetStatsRequest(), timeout=5)
        assert isinstance(answer, Stats)
        return answer


async def refusal(address: str, settings: ClientConfig) -> tuple[grpc.StatusCode, str]:
    """The status of a call that is refused."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await ask(address, settings)
    return caught.value.code(), caught.value.details() or ""
