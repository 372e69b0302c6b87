"""Fixtures that any test may use: real servers on the loopback interface."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from kernelvault import config, server
from kernelvault.v1 import corpus_pb2_grpc
from tests.corpus import corpus, corpus_service
from tests.s3 import own_s3, s3

__all__ = ["corpus", "corpus_service", "own_s3", "s3"]

Handler = Callable[[Any, Any], Any]
Serve = Callable[..., Awaitable[str]]


class Answering(corpus_pb2_grpc.CorpusServicer):
    """A Corpus whose methods are the given functions: for tests of what is around a servicer."""

    def __init__(self, **methods: Handler) -> None:
        for name, method in methods.items():
            setattr(self, name, method)


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Starts a real server whose Corpus has the given methods (`ready`: its readiness check); returns its address."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(ready: Callable[[], Awaitable[None]] | None = None, **methods: Handler) -> str:
            add = corpus_pb2_grpc.add_CorpusServicer_to_server
            registration = server.Registration("kernelvault.v1.Corpus", add, Answering(**methods))
            if ready:
                registration = registration._replace(ready=ready)
            settings = config.ServerConfig(drain_seconds=0.1)
            port = await stack.enter_async_context(server.serving([registration], settings))
            return f"127.0.0.1:{port}"

        yield start
