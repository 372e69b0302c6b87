"""A service as a process, whose calls of each kind take as long as KERNELVAULT_CALL_SECONDS says."""

import asyncio
import contextlib
import dataclasses
import os
from collections.abc import AsyncIterator
from typing import Any

from kernelvault import client, config, server
from kernelvault.v1 import corpus_pb2, corpus_pb2_grpc, storage_pb2, storage_pb2_grpc

_STEPS = 4


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(config.ServerConfig):
    """How long a call takes."""

    call_seconds: float = 0


@contextlib.asynccontextmanager
async def build(settings: Settings) -> AsyncIterator[list[server.Registration]]:
    """One Corpus that counts one sample, slowly, and says which process did, and a BlobStore that keeps nothing."""
    step_s = settings.call_seconds / _STEPS

    class Slow(corpus_pb2_grpc.CorpusServicer):
        async def GetStats(self, request: corpus_pb2.GetStatsRequest, context: Any) -> corpus_pb2.Stats:
            await asyncio.sleep(settings.call_seconds)
            return corpus_pb2.Stats(sample_count=1, snapshot_count=os.getpid())

        async def ReadSnapshot(
            self, request: corpus_pb2.ReadSnapshotRequest, context: Any
        ) -> AsyncIterator[corpus_pb2.ReadSnapshotResponse]:
            for offset in range(request.offset, _STEPS):
                await asyncio.sleep(step_s)
                yield corpus_pb2.ReadSnapshotResponse(offset=offset)

    class Forgetful(storage_pb2_grpc.BlobStoreServicer):
        async def WriteBlob(self, requests: Any, context: Any) -> storage_pb2.WriteBlobResponse:
            await context.send_initial_metadata(client.ACCEPTED)
            async for _ in requests:
                await asyncio.sleep(step_s)
            return storage_pb2.WriteBlobResponse()

    yield [
        server.Registration("kernelvault.v1.Corpus", corpus_pb2_grpc.add_CorpusServicer_to_server, Slow()),
        server.Registration("kernelvault.v1.BlobStore", storage_pb2_grpc.add_BlobStoreServicer_to_server, Forgetful()),
    ]


if __name__ == "__main__":
    server.main(Settings, build)
