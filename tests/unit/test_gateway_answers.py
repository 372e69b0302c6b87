"""What the gateway makes of reports and profiles."""

from __future__ import annotations

from typing import Any

import pytest

from kernelvault.v1 import artifact_pb2, compiler_pb2, profiler_pb2
from orchestrator.gateway import answers, fields
from orchestrator.gateway.evaluation import Judgement, Measured, Prepared

Report = compiler_pb2.VerificationReport
Profile = profiler_pb2.Profile
REQUEST = fields.RunCode(kernel_name="softmax", hip_code="x", pytorch_module_code="y")
PASSED = Report(verdict=Report.PASSED)


def timed(nanoseconds: float, method: str = "cpu-model", cases: tuple[str, ...] = ("large",)) -> Profile:
    """A profile."""
    estimates = [Profile.CaseEstimate(case_id=case) for case in cases]
    return Profile(time_ns=nanoseconds, device="MI300X", method_label=method, cases=estimates)


def judged(report: Report, profile: Profile | None = None, baseline: Measured | None = None, **more: Any) -> Judgement:
    """A judgement on a task with the hidden case `odd`."""
    task = Prepared("tasks/softmax-0123456789ab", frozenset({"odd"}))
    return Judgement(task, Measured(report, profile, **more), baseline, {"total_s": 1.0})


def build(compiled: bool) -> compiler_pb2.TargetBuild:
    """What came of a target."""
    return compiler_pb2.TargetBuild(target="gfx942", compiled=compiled)


@pytest.mark.parametrize(
    ("report", "reached", "error_type"),
    [
        (PASSED, (True, True, True), None),
        (Report(verdict=Report.MISMATCHED), (True, True, False), "correctness"),
        (Report(verdict=Report.UNSAFE), (True, False, False), "runtime"),
        (Report(verdict=Report.CRASHED), (True, False, False), "runtime"),
        (Report(verdict=Report.TIMED_OUT, builds=[build(True)]), (True, False, False), "runtime"),
        (Report(verdict=Report.TIMED_OUT, builds=[build(False)]), (False, False, False), "runtime"),
        (Report(verdict=Report.TIMED_OUT), (False, False, False), "runtime"),
        (Report(verdict=Report.COMPILE_FAILED), (False, False, False), "compile"),
        (Report(verdict=Report.PARSE_FAILED), (False, False, False), "parse_failed"),
        (Report(verdict=Report.REJECTED), (False, False, False), "rejected"),
        (Report(verdict=Report.NEEDS_DEVICE), (None, None, None), "needs_device"),
    ],
)
def test_a_verdict_says_how_far_a_candidate_came(
    report: Report, reached: tuple[bool | None, ...], error_type: str | None
) -> None:
    """In both forms of answer alike."""
    answer, evaluated = answers.run_code(REQUEST, judged(report)), answers.evaluate(judged(report))

    assert (answer["compile_ok"], answer["run_ok"], answer["match_ok"]) == reached
    assert (evaluated["compiled"], evaluated["correct"]) == (reached[0], reached[2])
    assert evaluated["error_type"] == error_type


def test_every_verdict_is_known() -> None:
    """One that is added must be decided on here."""
    unknown = [
        value.name
        for value in Report.Verdict.DESCRIPTOR.values
        if answers.unjudged(judged(Report(verdict=value.number))) and value.name != "NEEDS_DEVICE"
    ]

    assert unknown == ["VERDICT_UNSPECIFIED"]


@pytest.mark.parametrize(
    ("mine", "other", "speedup"),
    [
        (timed(50), timed(100), 2.0),
        (timed(50), timed(100, "gpu"), None),
        (timed(50), timed(100, cases=("large", "small")), None),
        (timed(0), timed(100), None),
        (timed(50), None, None),
        (None, timed(100), None),
    ],
)
def test_only_times_that_were_made_alike_are_compared(
    mine: Profile | None, other: Profile | None, speedup: float | None
) -> None:
    """By the same method, on the same device, of the same cases."""
    assert answers.run_code(REQUEST, judged(PASSED, mine, Measured(PASSED, other)))["speedup"] == speedup


def test_why_there_is_no_speedup_is_said() -> None:
    """A kernel that is right and has no time."""
    words = answers.reason(
        judged(PASSED, untimed="its plan is data-dependent", baseline=Measured(PASSED, untimed="so is its"))
    )

    assert words == "PASSED; not timed: its plan is data-dependent; the baseline is not timed: so is its"


def test_nothing_names_a_hidden_case() -> None:
    """Neither the explanation nor a finding, a note, a result or the advice."""
    report = Report(
        verdict=Report.MISMATCHED,
        explanation="case odd: 3 of 7 elements differ",
        findings=[compiler_pb2.Finding(case_id="odd", message="race in odd")],
        case_results=[compiler_pb2.CaseResult(case_id="odd"), compiler_pb2.CaseResult(case_id="even", passed=True)],
        notes=["case odd is large", "an odder note"],
        action_digest=artifact_pb2.Digest(hash="0" * 64),
    )
    profile = timed(1)
    profile.advice = "Case odd: slow"
    shown = judged(report, profile, Measured(report))

    answer, evaluated = answers.run_code(REQUEST, shown), answers.evaluate(shown)

    assert "odd" not in str(answer).replace("an odder note", "")
    assert "odd" not in str(evaluated).replace("an odder note", "")
    assert "not shown" in answer["reason"]
