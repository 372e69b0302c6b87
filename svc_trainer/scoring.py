"""Scores the samples of a snapshot one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from kernelvault import errors, similarity
from kernelvault.v1 import corpus_pb2, kernel_pb2, trainer_pb2
from svc_trainer import rewards
from svc_trainer.baselines import Baselines, source_of
from svc_trainer.corpus import Corpus

_REMEMBERED_BASELINES = 64


class Scorer:
    """Turns samples into rewards by one formula."""

    def __init__(self, formula: int, baselines: Baselines) -> None:
        self._formula = rewards.FORMULAS[formula]
        self._baselines = baselines
        self._tokens: dict[str, list[str]] = {}

    def score(self, sample: corpus_pb2.Sample) -> trainer_pb2.ComputeRewardsResponse:
        """The reward of a sample, or `skipped`."""
        report = sample.report
        response = trainer_pb2.ComputeRewardsResponse(sample=sample.name, verdict=report.verdict)
        if not rewards.earns_reward(report):
            response.skipped = True
            return response
        failure = rewards.FAILURES.get(report.verdict)
        outcome = rewards.Outcome(
            failure=failure,
            speedup=self._baselines.speedup(sample.name),
            novelty=0.0 if failure else self._novelty(sample),
        )
        response.reward = self._formula(outcome)
        response.speedup, response.novelty = outcome.speedup or 0.0, outcome.novelty
        return response

    def _novelty(self, sample: corpus_pb2.Sample) -> float:
        """1 for a sample without a baseline but itself: there is nothing that it could be a copy of."""
        baseline = self._baselines.of_sample(sample.name)
        if not baseline or baseline == sample.name:
            return 1.0
        python = sample.candidate.language == kernel_pb2.Candidate.TRITON
        if baseline not in self._tokens:
            if len(self._tokens) >= _REMEMBERED_BASELINES:
                self._tokens.clear()
            self._tokens[baseline] = similarity.tokens(self._baselines.source(baseline), python=python)
        return similarity.distance(similarity.tokens(source_of(sample), python=python), self._tokens[baseline])


async def compute(corpus: Corpus, snapshot: str, formula: int) -> AsyncIterator[trainer_pb2.ComputeRewardsResponse]:
    """Streams one response for each sample of a snapshot, in its order.

    Raises errors.InvalidArgument for an unknown formula, errors.NotFound for an unknown snapshot, errors.Unavailable.
    """
    if formula not in rewards.FORMULAS:
        names = trainer_pb2.ComputeRewardsRequest.Formula
        known = ", ".join(names.Name(value) for value in rewards.FORMULAS)
        raise errors.InvalidArgument("formula", f"{formula} is no formula; known are {known}")
    await corpus.check()
    scorer = Scorer(formula, await Baselines.of(corpus, snapshot))
    async for sample in corpus.snapshot(snapshot):
        # Comparing sources takes milliseconds: the event loop goes on meanwhile.
        yield await asyncio.to_thread(scorer.score, sample)
