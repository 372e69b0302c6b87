"""The reward formulas, by tables: the published formulas are the specification."""

from __future__ import annotations

import math

import pytest

from kernelvault.similarity import NEAR_COPY
from kernelvault.v1 import compiler_pb2, trainer_pb2
from svc_trainer import rewards
from svc_trainer.rewards import Failure, Outcome

REPORT = compiler_pb2.VerificationReport
COPY = NEAR_COPY * 0.9


@pytest.mark.parametrize(
    ("outcome", "reward"),
    [
        (Outcome(failure=Failure.COMPILE), 0.0),
        (Outcome(failure=Failure.RUN), 0.0),
        (Outcome(failure=Failure.MATCH), 0.0),
        (Outcome(speedup=4.0, novelty=COPY), 0.0),
        (Outcome(speedup=0.5), 0.8),
        (Outcome(speedup=1.0), 1.3),
        (Outcome(speedup=1.1), 1.4),
        (Outcome(speedup=1.2), 1.8),
        (Outcome(speedup=10.0), 10.6),
        (Outcome(speedup=99.0), 10.6),
        (Outcome(speedup=None), 0.3),
    ],
)
def test_correct_speedup_copy_penalty(outcome: Outcome, reward: float) -> None:
    """Failure 0; near-copy 0; else 0.3 + clip(s, 0, 10) + 0.3·[s > 1.1]."""
    assert rewards.correct_speedup_copy_penalty(outcome) == pytest.approx(reward)


@pytest.mark.parametrize(
    ("outcome", "reward"),
    [
        (Outcome(failure=Failure.COMPILE), -0.9),
        (Outcome(failure=Failure.RUN), -0.7),
        (Outcome(failure=Failure.MATCH), -0.3),
        (Outcome(speedup=1.0, novelty=0.5), 0.3),
        (Outcome(speedup=2.0, novelty=1.0), 1.05),
        (Outcome(speedup=0.5, novelty=0.5), 0.05),
        (Outcome(speedup=50.0, novelty=0.5), 4.8),
        (Outcome(speedup=50.0, novelty=COPY), -0.2),
        (Outcome(speedup=0.01, novelty=0.0), -0.445),
        (Outcome(speedup=None, novelty=0.5), 0.3),
    ],
)
def test_soft_clip_novelty(outcome: Outcome, reward: float) -> None:
    """-0.9/-0.7/-0.3; else 0.3 + 0.5·clip(s-1, -1, 9) + 0.5·(novelty-0.5); copies at most -0.2."""
    assert rewards.soft_clip_novelty(outcome) == pytest.approx(reward)


@pytest.mark.parametrize(
    ("outcome", "reward"),
    [
        (Outcome(failure=Failure.COMPILE), -0.9),
        (Outcome(failure=Failure.RUN), -0.5),
        (Outcome(failure=Failure.MATCH), 0.0),
        (Outcome(speedup=100.0, novelty=0.5), 0.5 + math.log(101) / math.log(101)),
        (Outcome(speedup=1.0, novelty=0.5), 0.5 + math.log(2) / math.log(101)),
        (Outcome(speedup=None, novelty=1.0), 0.625),
    ],
)
def test_legacy(outcome: Outcome, reward: float) -> None:
    """-0.9/-0.5/0; else 0.5 + log1p(s)/log1p(100) + 0.25·(novelty-0.5)."""
    assert rewards.legacy(outcome) == pytest.approx(reward)


@pytest.mark.parametrize(
    ("outcome", "reward"),
    [
        (Outcome(failure=Failure.COMPILE), 0.0),
        (Outcome(failure=Failure.RUN), 0.4),
        (Outcome(failure=Failure.MATCH), 0.4),
        (Outcome(speedup=0.25), 1.4),
        (Outcome(speedup=1.0), 1.4),
        (Outcome(speedup=2.0), 1.775),
        (Outcome(speedup=4.0), 2.9),
        (Outcome(speedup=64.0), 2.9),
        (Outcome(speedup=None), 1.4),
    ],
)
def test_triton_turn(outcome: Outcome, reward: float) -> None:
    """0.4·compiled + 1.0·correct + min(0.375·(log2 s)², 1.5) for s ≥ 1."""
    assert rewards.triton_turn(outcome) == pytest.approx(reward)


@pytest.mark.parametrize(
    ("turns", "expected"), [([], 0.0), ([1.0], 1.0), ([1.0, 2.0], 2.2), ([0.4, 1.4, 2.9], 0.4 + 0.84 + 1.044)]
)
def test_a_return_discounts_later_turns(turns: list[float], expected: float) -> None:
    """r1 + 0.6·r2 + 0.36·r3."""
    assert rewards.episode_return(turns) == pytest.approx(expected)


def test_a_lineage_ends_where_it_is_unknown_or_turns_back() -> None:
    """At most three turns, the first attempt first."""
    parents = {"d": "c", "c": "b", "b": "a", "x": "y", "y": "x", "self": "self"}
    assert rewards.lineage("d", parents) == ["b", "c", "d"]
    assert rewards.lineage("b", parents) == ["a", "b"]
    assert rewards.lineage("x", parents) == ["y", "x"]
    assert rewards.lineage("self", parents) == ["self"]


@pytest.mark.parametrize("verdict", REPORT.Verdict.values()[1:])
def test_only_what_a_candidate_did_earns_a_reward(verdict: compiler_pb2.VerificationReport.Verdict) -> None:
    """NEEDS_DEVICE never does; any failure does unless it is the reference's or the platform's."""
    mine = REPORT(verdict=verdict, fault_owner=REPORT.CANDIDATE)
    assert rewards.earns_reward(mine) == (verdict != REPORT.NEEDS_DEVICE)
    for owner in (REPORT.REFERENCE, REPORT.PLATFORM):
        foreign = REPORT(verdict=verdict, fault_owner=owner)
        assert rewards.earns_reward(foreign) == (verdict == REPORT.PASSED)


def test_every_formula_of_the_contract_is_there() -> None:
    """A new value of the enum needs a function."""
    assert set(rewards.FORMULAS) == set(trainer_pb2.ComputeRewardsRequest.Formula.values()) - {0}
