"""A service as a process, whose one call takes as long as KERNELVAULT_CALL_SECONDS says."""

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator
from typing import Any

from kernelvault import config, server
from kernelvault.v1 import corpus_pb2, corpus_pb2_grpc


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(config.ServerConfig):
    """How long a call takes."""

    call_seconds: float = 0


@contextlib.asynccontextmanager
async def build(settings: Settings) -> AsyncIterator[list[server.Registration]]:
    """One Corpus that counts one sample, slowly."""

    class Slow(corpus_pb2_grpc.CorpusServicer):
        async def GetStats(self, request: corpus_pb2.GetStatsRequest, context: Any) -> corpus_pb2.Stats:
            await asyncio.sleep(settings.call_seconds)
            return corpus_pb2.Stats(sample_count=1)

    yield [server.Registration("kernelvault.v1.Corpus", corpus_pb2_grpc.add_CorpusServicer_to_server, Slow())]


if __name__ == "__main__":
    server.main(Settings, build)
