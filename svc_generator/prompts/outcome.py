"""One attempt's outcome as a model reads it: the verdict, why, and where in the source."""

from __future__ import annotations

import itertools
import re

from kernelvault.v1.compiler_pb2 import Diagnostic, Finding, VerificationReport
from kernelvault.v1.generator_pb2 import Attempt
from kernelvault.v1.kernel_pb2 import Task
from svc_generator.prompts.markdown import clip, quote

_MOST_ITEMS = 8
_MOST_WORDS = 600
_MOST_REFLECTION = 3000
_MOST_LINE = 160


def hidden_cases(task: Task) -> set[str]:
    """The IDs of the cases of which nothing is told."""
    return {case.id for case in task.cases if case.hidden}


def describe(attempt: Attempt, hidden: set[str]) -> str:
    """The verdict, why, where, how fast, and what a reviewer said; nothing of the cases in `hidden`."""
    report = attempt.report
    lines = [f"Verdict: {VerificationReport.Verdict.Name(report.verdict)}."]
    lines += _why(attempt, hidden)
    lines += _diagnostics(attempt)
    lines += _failed_cases(report, hidden)
    lines += _findings(attempt, hidden)
    lines += _speed(attempt)
    lines += _reflection(attempt)
    return "\n".join(lines)


def _why(attempt: Attempt, hidden: set[str]) -> list[str]:
    """The explanation, unless it is made of the diagnostics or the findings, which say where."""
    report = attempt.report
    secret = {*hidden, *(one.message for one in report.findings if one.case_id in hidden)}
    if any(text and text in report.explanation for text in secret):
        return ["Why: a case that is not shown does not pass; the kernel must be right for any shape and value"]
    if not report.explanation or _is_told(report.explanation, report):
        return []
    place = _first_place(attempt)
    quoted = "" if place in (one.location for one in report.findings) else _quoted(attempt, place)
    return [f"Why: {clip(report.explanation, _MOST_WORDS)}{quoted}"]


def _is_told(explanation: str, report: VerificationReport) -> bool:
    diagnostics = (one.message for build in report.builds for one in build.diagnostics if one.level == Diagnostic.ERROR)
    messages = itertools.chain(diagnostics, (one.message for one in report.findings))
    return any(message and message in explanation for message in messages)


def _first_place(attempt: Attempt) -> str:
    """The first `file:line` of its sources that an explanation names; empty if there is none."""
    files = "|".join(re.escape(source.path) for source in attempt.candidate.sources)
    match = re.search(rf"(?<![\w/.])(?:{files}):\d+", attempt.report.explanation) if files else None
    return match[0] if match else ""


def _diagnostics(attempt: Attempt) -> list[str]:
    builds = attempt.report.builds
    found: dict[str, list[str]] = {}
    for build in builds:
        for one in build.diagnostics:
            targets = found.setdefault(_diagnostic(attempt, one), []) if one.level == Diagnostic.ERROR else []
            targets += [build.target] if build.target not in targets else []
    # One that not all targets have is about the hardware: its LDS, its instructions.
    lines = [line if len(on) == len(builds) else f"{line}\n  on {', '.join(on)} only" for line, on in found.items()]
    return ["Compiler errors:", *lines[:_MOST_ITEMS]] if lines else []


def _diagnostic(attempt: Attempt, one: Diagnostic) -> str:
    place = f"{one.file}:{one.line}" if one.line else one.file
    head = f"- {place}: " if place else "- "
    return f"{head}{clip(one.message, _MOST_WORDS)}{_quoted(attempt, place)}"


def _failed_cases(report: VerificationReport, hidden: set[str]) -> list[str]:
    failed = [
        one
        for one in report.case_results
        if not one.passed
        and one.case_id not in hidden
        and one.explanation
        # Not what was said already, or will be.
        and one.explanation not in report.explanation
        and not _is_told(one.explanation, report)
    ]
    lines = [f"- case `{one.case_id}`: {clip(one.explanation, _MOST_WORDS)}" for one in failed[:_MOST_ITEMS]]
    return ["Failed cases:", *lines] if lines else []


def _findings(attempt: Attempt, hidden: set[str]) -> list[str]:
    """By place, each with its source line."""
    found = [one for one in attempt.report.findings if one.case_id not in hidden]
    lines = []
    for location in dict.fromkeys(one.location for one in found[:_MOST_ITEMS]):
        lines.append(f"Found{f' at {location}' if location else ''}:{_quoted(attempt, location)}")
        here = (one for one in found[:_MOST_ITEMS] if one.location == location)
        lines += dict.fromkeys(f"- {_whose(one)}: {clip(one.message, _MOST_WORDS)}" for one in here)
    return lines


def _whose(finding: Finding) -> str:
    case = f", case `{finding.case_id}`" if finding.case_id else ""
    return f"{finding.kernel or 'host code'}{case}"


def _quoted(attempt: Attempt, location: str) -> str:
    """The source line that a `file:line` points at; models count lines badly."""
    file, _, number = location.rpartition(":")
    for source in attempt.candidate.sources:
        lines = source.contents.decode(errors="replace").splitlines() if source.path == file else []
        if number.isdecimal() and 0 < int(number) <= len(lines):
            return f"\n  line {number} is `{clip(lines[int(number) - 1].strip(), _MOST_LINE)}`"
    return ""


def _speed(attempt: Attempt) -> list[str]:
    if not attempt.HasField("profile"):
        return []
    profile = attempt.profile
    line = (
        f"Time: {profile.time_ns / 1e3:.2f} µs on {profile.device} ({profile.method_label}), "
        f"{profile.roofline_fraction:.0%} of the roofline."
    )
    return [line, *([f"Advice: {profile.advice}"] if profile.advice else [])]


def _reflection(attempt: Attempt) -> list[str]:
    text = attempt.reflection.text.strip()
    return ["", "A reviewer's reflection on it:", "", quote(clip(text, _MOST_REFLECTION))] if text else []
