"""The corpus as the trainer sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from kernelvault import client, errors
from kernelvault.v1 import corpus_pb2, corpus_pb2_grpc

_TIMEOUT_S = 3600.0


class Corpus:
    """Calls of the corpus; each raises errors.Unavailable where it does not answer until the caller's time ends."""

    def __init__(self, channel: Any) -> None:
        self._channel = channel
        self._stub = corpus_pb2_grpc.CorpusStub(channel)  # type: ignore[no-untyped-call]

    async def check(self) -> None:
        """Raises errors.Unavailable unless the corpus answers."""
        if await client.health(self._channel, timeout_s=1.0) == "UNREACHABLE":
            raise errors.Unavailable("CORPUS_UNREACHABLE", "failed to reach the corpus")

    async def snapshot(self, name: str) -> AsyncIterator[corpus_pb2.Sample]:
        """The samples of a snapshot in its order; goes on where a broken stream stopped. Raises errors.NotFound."""
        request = corpus_pb2.ReadSnapshotRequest(name=name)
        async for response in client.stream(self._stub.ReadSnapshot, request, timeout_s=_TIMEOUT_S, resume=_rest):
            yield response.sample

    async def sample(self, name: str) -> corpus_pb2.Sample | None:
        """A sample by name; None if there is no such sample."""
        request = corpus_pb2.GetSampleRequest(name=name)
        try:
            sample: corpus_pb2.Sample = await client.call(self._stub.GetSample, request, timeout_s=_TIMEOUT_S)
        except errors.NotFound:
            return None
        return sample


def _rest(
    request: corpus_pb2.ReadSnapshotRequest, response: corpus_pb2.ReadSnapshotResponse
) -> corpus_pb2.ReadSnapshotRequest:
    return corpus_pb2.ReadSnapshotRequest(name=request.name, offset=response.offset + 1)
