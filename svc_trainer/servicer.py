"""The Trainer service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from kernelvault.v1 import trainer_pb2, trainer_pb2_grpc
from svc_trainer import scoring
from svc_trainer.corpus import Corpus


class TrainerServicer(trainer_pb2_grpc.TrainerServicer):
    """Errors of each call stand in trainer.proto."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    async def ComputeRewards(
        self, request: trainer_pb2.ComputeRewardsRequest, context: Any
    ) -> AsyncIterator[trainer_pb2.ComputeRewardsResponse]:
        async for response in scoring.compute(self._corpus, request.snapshot, request.formula):
            yield response
