"""The seed system's response fields, from what the services found."""

from __future__ import annotations

import re
from typing import Any

from google.protobuf import json_format

from orchestrator.gateway.evaluation import Judgement, Measured, Report
from orchestrator.gateway.fields import RunCode

_V = Report
# How far a failed candidate came: compiled, ran. One that broke a rule counts as one that does not compile, as in our
# own rewards (trainer.proto).
_REACHED = {
    _V.PASSED: (True, True),
    _V.MISMATCHED: (True, True),
    _V.CRASHED: (True, False),
    _V.TIMED_OUT: (True, False),
    _V.UNSAFE: (True, False),
    _V.REJECTED: (False, False),
    _V.PARSE_FAILED: (False, False),
    _V.COMPILE_FAILED: (False, False),
}
# The seed system's words for what went wrong.
_ERROR_TYPES = {
    _V.PARSE_FAILED: "parse_failed",
    _V.COMPILE_FAILED: "compile",
    _V.CRASHED: "runtime",
    _V.TIMED_OUT: "runtime",
    _V.UNSAFE: "runtime",
    _V.MISMATCHED: "correctness",
    _V.REJECTED: "rejected",
}
_NOT_SHOWN = "a case that is not shown does not pass; the kernel must be right for any shape and value"
_NS_PER_MS = 1e6


def unjudged(judgement: Judgement) -> bool:
    """Whether the candidate is neither right nor wrong: it needs a device."""
    return judgement.candidate.report.verdict not in _REACHED


def run_code(request: RunCode, judgement: Judgement) -> dict[str, Any]:
    """The response for a HIP kernel. The booleans are None where nobody can say."""
    compiled, ran = _reached(judgement.candidate.report)
    return {
        "kernel_name": request.kernel_name,
        "compile_ok": compiled,
        "run_ok": ran,
        "match_ok": None if compiled is None else judgement.candidate.passed,
        "speedup": judgement.speedup,
        "reason": reason(judgement),
        "stats": {**_times(judgement), **_facts(judgement)},
        "timing": judgement.timing,
    }


def evaluate(judgement: Judgement) -> dict[str, Any]:
    """The response for a Triton kernel."""
    verdict, times = judgement.candidate.report.verdict, _times(judgement)
    return {
        "compiled": _reached(judgement.candidate.report)[0],
        "correct": None if unjudged(judgement) else judgement.candidate.passed,
        "speedup": judgement.speedup,
        "latency_ms": times["latency_ms"],
        "baseline_latency_ms": times["baseline_latency_ms"],
        "feedback": _feedback(judgement),
        "error_type": None if verdict == _V.PASSED else _ERROR_TYPES.get(verdict, "needs_device"),
        "diagnostics": {**_facts(judgement), "timing": judgement.timing},
    }


def reason(judgement: Judgement) -> str:
    """The verdict and why, for a model to read: nothing of cases that are hidden from it."""
    report = judgement.candidate.report
    words = [_V.Verdict.Name(report.verdict)]
    if report.explanation:
        words.append(_NOT_SHOWN if _shows_hidden(judgement) else report.explanation)
    if judgement.candidate.untimed:
        words.append(f"not timed: {judgement.candidate.untimed}")
    baseline = judgement.baseline
    if baseline is not None and not baseline.passed:
        words.append(f"the baseline is {_V.Verdict.Name(baseline.report.verdict)}: {baseline.report.explanation}")
    elif baseline is not None and baseline.untimed:
        words.append(f"the baseline is not timed: {baseline.untimed}")
    return ": ".join(words[:2]) + "".join(f"; {word}" for word in words[2:])


def _reached(report: Report) -> tuple[bool | None, bool | None]:
    compiled, ran = _REACHED.get(report.verdict, (None, None))
    if report.verdict == _V.TIMED_OUT and not all(build.compiled for build in report.builds):
        return False, False
    return compiled, ran


def _shows_hidden(judgement: Judgement) -> bool:
    text = judgement.candidate.report.explanation
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for name in judgement.task.hidden)


def _feedback(judgement: Judgement) -> str:
    lines = [reason(judgement)]
    for build in judgement.candidate.report.builds:
        for one in build.diagnostics:
            lines.append(f"{one.file}:{one.line}:{one.column}: {one.message}")
    for finding in judgement.candidate.report.findings:
        if finding.case_id not in judgement.task.hidden:
            lines.append(f"{finding.location}: {finding.message}" if finding.location else finding.message)
    if judgement.candidate.profile is not None and judgement.candidate.profile.advice:
        lines.append(judgement.candidate.profile.advice)
    return "\n".join(dict.fromkeys(lines))


def _times(judgement: Judgement) -> dict[str, Any]:
    profile = judgement.candidate.profile
    return {
        "latency_ms": _milliseconds(judgement.candidate),
        "baseline_latency_ms": _milliseconds(judgement.baseline) if judgement.baseline else None,
        "method": profile.method_label if profile else None,
        "device": profile.device if profile else None,
        "roofline_fraction": profile.roofline_fraction if profile else None,
    }


def _milliseconds(measured: Measured) -> float | None:
    return measured.profile.time_ns / _NS_PER_MS if measured.profile else None


def _facts(judgement: Judgement) -> dict[str, Any]:
    report, hidden = judgement.candidate.report, judgement.task.hidden
    return {
        "verdict": _V.Verdict.Name(report.verdict),
        "task": judgement.task.name,
        "action_digest": report.action_digest.hash,
        "executed_targets": list(report.executed_targets),
        "compiled_targets": list(report.compiled_targets),
        "cases": [
            {"case_id": case.case_id, "passed": case.passed, "explanation": case.explanation}
            for case in report.case_results
            if case.case_id not in hidden
        ],
        "diagnostics": [
            {"target": build.target, **_plain(one)} for build in report.builds for one in build.diagnostics
        ],
        "findings": [_plain(finding) for finding in report.findings if finding.case_id not in hidden],
        "notes": list(report.notes),
        "cached": report.cached,
    }


def _plain(message: Any) -> dict[str, Any]:
    return json_format.MessageToDict(message, preserving_proto_field_name=True)
