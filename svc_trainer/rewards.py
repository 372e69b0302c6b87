"""The reward formulas of AMDKernelVault (arXiv 2609.12471), as pure functions."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable, Mapping, Sequence

from kernelvault.similarity import NEAR_COPY
from kernelvault.v1 import compiler_pb2, trainer_pb2

_REPORT = compiler_pb2.VerificationReport
TURN_DISCOUNT = 0.6


class Failure(enum.Enum):
    """How far a candidate came. One that broke a rule counts as one that does not compile."""

    COMPILE = "compile"
    RUN = "run"
    MATCH = "match"


FAILURES: Mapping[int, Failure] = {
    _REPORT.REJECTED: Failure.COMPILE,
    _REPORT.PARSE_FAILED: Failure.COMPILE,
    _REPORT.COMPILE_FAILED: Failure.COMPILE,
    _REPORT.CRASHED: Failure.RUN,
    _REPORT.TIMED_OUT: Failure.RUN,
    _REPORT.UNSAFE: Failure.RUN,
    _REPORT.MISMATCHED: Failure.MATCH,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a formula sees of a sample."""

    # None: the candidate is right.
    failure: Failure | None = None
    # The baseline's time / the candidate's; None: unknown, and the formula's speed term is left out.
    speedup: float | None = None
    # The distance of the source to the baseline's, in [0, 1].
    novelty: float = 1.0

    @property
    def near_copy(self) -> bool:
        """Whether the source hardly differs from the baseline's."""
        return self.novelty < NEAR_COPY


def earns_reward(report: compiler_pb2.VerificationReport) -> bool:
    """False where the verdict says nothing of the candidate: no device, or a fault of the reference or the platform."""
    if report.verdict == _REPORT.PASSED:
        return True
    return report.verdict in FAILURES and report.fault_owner not in (_REPORT.REFERENCE, _REPORT.PLATFORM)


def correct_speedup_copy_penalty(outcome: Outcome) -> float:
    """0 for a failure or a near-copy, else `0.3 + clip(s, 0, 10) + 0.3·[s > 1.1]`."""
    if outcome.failure or outcome.near_copy:
        return 0.0
    if outcome.speedup is None:
        return 0.3
    return 0.3 + _clip(outcome.speedup, 0.0, 10.0) + (0.3 if outcome.speedup > 1.1 else 0.0)


def soft_clip_novelty(outcome: Outcome) -> float:
    """-0.9/-0.7/-0.3 for a failure, else `0.3 + 0.5·clip(s-1, -1, 9) + 0.5·(novelty-0.5)`, at most -0.2 for a copy."""
    if outcome.failure:
        return {Failure.COMPILE: -0.9, Failure.RUN: -0.7, Failure.MATCH: -0.3}[outcome.failure]
    faster = 0.0 if outcome.speedup is None else outcome.speedup - 1
    reward = 0.3 + 0.5 * _clip(faster, -1.0, 9.0) + 0.5 * (outcome.novelty - 0.5)
    return min(reward, -0.2) if outcome.near_copy else reward


def legacy(outcome: Outcome) -> float:
    """-0.9/-0.5/0 for a failure, else `0.5 + log1p(s)/log1p(100) + 0.25·(novelty-0.5)`."""
    if outcome.failure:
        return {Failure.COMPILE: -0.9, Failure.RUN: -0.5, Failure.MATCH: 0.0}[outcome.failure]
    return 0.5 + math.log1p(outcome.speedup or 0.0) / math.log1p(100) + 0.25 * (outcome.novelty - 0.5)


def triton_turn(outcome: Outcome) -> float:
    """One turn: `0.4·compiled + 1.0·correct + min(0.375·(log2 s)², 1.5)`, the last for s ≥ 1."""
    if outcome.failure:
        return 0.0 if outcome.failure is Failure.COMPILE else 0.4
    if outcome.speedup is None or outcome.speedup < 1:
        return 1.4
    return 1.4 + min(0.375 * math.log2(outcome.speedup) ** 2, 1.5)


FORMULAS: Mapping[int, Callable[[Outcome], float]] = {
    trainer_pb2.ComputeRewardsRequest.CORRECT_SPEEDUP_COPY_PENALTY: correct_speedup_copy_penalty,
    trainer_pb2.ComputeRewardsRequest.SOFT_CLIP_NOVELTY: soft_clip_novelty,
    trainer_pb2.ComputeRewardsRequest.LEGACY: legacy,
    trainer_pb2.ComputeRewardsRequest.TRITON_TURN: triton_turn,
}


def lineage(sample: str, parents: Mapping[str, str], *, turns: int = 3) -> list[str]:
    """The last `turns` samples that led to `sample`, itself included, the earliest first. `parents` may lack some."""
    chain = [sample]
    while len(chain) < turns and (parent := parents.get(chain[-1], "")) and parent not in chain:
        chain.append(parent)
    return chain[::-1]


def episode_return(rewards: Sequence[float]) -> float:
    """`r1 + 0.6·r2 + 0.36·r3…` over the turns of an episode."""
    return sum(TURN_DISCOUNT**turn * reward for turn, reward in enumerate(rewards))


def _clip(value: float, low: float, high: float) -> float:
    return max(low, min(value, high))
