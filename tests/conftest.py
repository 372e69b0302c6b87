"""Fixtures that any test may use: real servers on the loopback interface."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from kernelvault import config, server
from kernelvault.v1 import corpus_pb2_grpc
from tests.access import authority, known
from tests.cluster import cluster, stopped
from tests.compiler import compiler, compiler_service
from tests.corpus import corpus, corpus_service
from tests.profiler import profiler
from tests.s3 import own_s3, s3

__all__ = [
    "authority",
    "cluster",
    "compiler",
    "compiler_service",
    "corpus",
    "corpus_service",
    "known",
    "own_s3",
    "profiler",
    "s3",
    "stopped",
]

Handler = Callable[[Any, Any], Any]
Serve = Callable[..., Awaitable[str]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Starts a real server with one service (the Corpus, if not told) whose methods are the given functions.

    `ready` is its readiness check, `settings` its configuration. Returns its address.
    """
    async with contextlib.AsyncExitStack() as stack:

        async def start(
            ready: Callable[[], Awaitable[None]] | None = None,
            of: Any = corpus_pb2_grpc,
            name: str = "Corpus",
            settings: config.ServerConfig | None = None,
            **methods: Handler,
        ) -> str:
            named = {method: staticmethod(function) for method, function in methods.items()}
            servicer = type(f"Answering{name}", (getattr(of, f"{name}Servicer"),), named)()
            add = getattr(of, f"add_{name}Servicer_to_server")
            registration = server.Registration(f"kernelvault.v1.{name}", add, servicer)
            if ready:
                registration = registration._replace(ready=ready)
            settings = settings or config.ServerConfig(drain_seconds=0.1)
            port = await stack.enter_async_context(server.serving([registration], settings))
            return f"127.0.0.1:{port}"

        yield start
