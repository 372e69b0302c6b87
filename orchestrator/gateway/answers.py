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
    report, baseline = judgement.candidate.report, judgement.baseline
    words = _why(report, judgement)
    if judgement.candidate.untimed:
        words += f"; not timed: {_shown(judgement.candidate.untimed, judgement)}"
    if baseline is not None and not baseline.passed:
        words += f"; the baseline is {_why(baseline.report, judgement)}"
    elif baseline is not None and baseline.untimed:
        words += f"; the baseline is not timed: {_shown(baseline.untimed, judgement)}"
    return words


def _why(report: Report, judgement: Judgement) -> str:
    verdict = _V.Verdict.Name(report.verdict)
    return f"{verdict}: {_shown(report.explanation, judgement)}" if report.explanation else verdict


def _shown(text: str, judgement: Judgement, instead: str = _NOT_SHOWN) -> str:
    """The text, or `instead` where it names a hidden case."""
    names = "|".join(re.escape(name) for name in judgement.task.hidden)
    return instead if names and re.search(rf"(?<![\w-])({names})(?![\w-])", text) else text


def _reached(report: Report) -> tuple[bool | None, bool | None]:
    compiled, ran = _REACHED.get(report.verdict, (None, None))
    built = report.builds and all(build.compiled for build in report.builds)
    if report.verdict == _V.TIMED_OUT and not built:
        return False, False
    return compiled, ran


def _feedback(judgement: Judgement) -> str:
    lines = [reason(judgement)]
    for build in judgement.candidate.report.builds:
        for one in build.diagnostics:
            lines.append(f"{one.file}:{one.line}:{one.column}: {one.message}")
    for finding in judgement.candidate.report.findings:
        if finding.case_id not in judgement.task.hidden:
            lines.append(f"{finding.location}: {finding.message}" if finding.location else finding.message)
    if judgement.candidate.profile is not None:
        lines.append(_shown(judgement.candidate.profile.advice, judgement, ""))
    return "\n".join(dict.fromkeys(line for line in lines if line))


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
        "modelled_target": report.modelled_target,
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
        "notes": [note for note in report.notes if _shown(note, judgement, "")],
        "cached": report.cached,
    }


def _plain(message: Any) -> dict[str, Any]:
    return json_format.MessageToDict(message, preserving_proto_field_name=True)
