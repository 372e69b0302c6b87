"""`python -m svc_trainer`: the trainer as a process. Wiring only."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence

from kernelvault import client, server
from kernelvault.v1 import trainer_pb2, trainer_pb2_grpc
from svc_trainer.corpus import Corpus
from svc_trainer.servicer import TrainerServicer
from svc_trainer.settings import TrainerConfig


@contextlib.asynccontextmanager
async def build(settings: TrainerConfig) -> AsyncIterator[Sequence[server.Registration]]:
    """The one service, over the corpus."""
    async with client.channel(settings.corpus_address, settings) as channel:
        corpus = Corpus(channel)
        name = trainer_pb2.DESCRIPTOR.services_by_name["Trainer"].full_name
        add = trainer_pb2_grpc.add_TrainerServicer_to_server
        yield [server.Registration(name, add, TrainerServicer(corpus), corpus.check)]


if __name__ == "__main__":
    server.main(TrainerConfig, build)
