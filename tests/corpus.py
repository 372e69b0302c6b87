"""A running corpus and a short way to call it, for tests."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from kernelvault import client
from kernelvault.v1 import corpus_pb2, corpus_pb2_grpc, kernel_pb2, storage_pb2_grpc
from tests import messages
from tests.s3 import S3Server
from tests.services import Service

TIMEOUT_S = 60.0


class Corpus:
    """The three services behind one channel. Errors are raised as errors.Error."""

    def __init__(self, channel: Any) -> None:
        self.channel = channel
        self._stubs = [
            stub(channel)
            for stub in (corpus_pb2_grpc.CorpusStub, storage_pb2_grpc.BlobStoreStub, storage_pb2_grpc.ActionCacheStub)
        ]

    def method(self, name: str) -> Any:
        """The multicallable of a method of any of the services."""
        return next(getattr(stub, name) for stub in self._stubs if hasattr(stub, name))

    async def call(self, name: str, request: Any, *, timeout_s: float = TIMEOUT_S) -> Any:
        """Calls a unary method."""
        return await client.call(self.method(name), request, timeout_s=timeout_s)

    async def all(self, name: str, request: Any) -> list[Any]:
        """All responses of a stream."""
        return [response async for response in client.stream(self.method(name), request, timeout_s=TIMEOUT_S)]

    async def task(self, title: str = "", **fields: Any) -> kernel_pb2.Task:
        """A stored task; without a title, one that no other test uses."""
        made = messages.task(title or f"t{uuid.uuid4().hex[:12]}", **fields)
        return await self.call("CreateTask", corpus_pb2.CreateTaskRequest(task=made))

    async def sample(self, of: str, source: str, **fields: Any) -> corpus_pb2.Sample:
        """A stored sample."""
        made = messages.sample(of, source, **fields)
        return await self.call("CreateSample", corpus_pb2.CreateSampleRequest(sample=made))


@pytest.fixture(scope="module")
def corpus_service(s3: S3Server) -> Iterator[Service]:
    """A corpus of its own for a module of tests."""
    settings = {"prefix": f"{uuid.uuid4().hex}/", "default_page_size": "3", "max_blob_bytes": str(4 << 20)}
    with Service("svc_corpus", s3.environment(**settings)) as service:
        yield service


@pytest.fixture
async def corpus(corpus_service: Service) -> AsyncIterator[Corpus]:
    """The module's corpus, called from this test's event loop."""
    async with client.channel(corpus_service.address) as channel:
        yield Corpus(channel)
