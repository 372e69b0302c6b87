"""Earlier attempts as a model reads them: what happened, why, and what to try, within a budget of characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernelvault.v1.compiler_pb2 import Diagnostic, Finding, VerificationReport
from kernelvault.v1.generator_pb2 import Attempt
from kernelvault.v1.kernel_pb2 import Task
from svc_generator.prompts.markdown import clip, fence, quote

_MOST_ITEMS = 8
_MOST_WORDS = 600
_MOST_REFLECTION = 3000
_MOST_LINE = 160
_LEAST_SOURCE_CHARS = 400


def render(attempts: Sequence[Attempt], task: Task, budget_chars: int, *, newest_first: bool = False) -> str:
    """Every attempt's result and, as far as the budget goes, sources: of the best, then of the newest ones.

    With `newest_first` the newest one's source comes before the best one's. What is known of hidden cases is left out.
    """
    hidden = {case.id for case in task.cases if case.hidden}
    best = fastest(attempts)
    first = _first_of_its_kind(attempts)
    results = [
        _result(attempt, hidden) if first[number] == number else _repeated(first[number])
        for number, attempt in enumerate(attempts)
    ]
    order = [
        number for number in _by_interest(len(attempts), None if newest_first else best) if first[number] == number
    ]
    sources = {number: _source(attempts[number]) for number in order}
    shown = _fitting(sources, budget_chars - sum(map(len, results)))
    parts = [_section(number, result, shown.get(number, ""), best) for number, result in enumerate(results)]
    return clip("\n\n".join(parts), budget_chars + 200 * len(parts))


def fastest(attempts: Sequence[Attempt]) -> int | None:
    """The index of the fastest attempt that passed, a measured one before any other; None if none did."""
    passed = [i for i, one in enumerate(attempts) if one.report.verdict == VerificationReport.PASSED]
    measured = [i for i in passed if one_time(attempts[i])]
    if measured:
        return min(measured, key=lambda i: one_time(attempts[i]))
    return passed[-1] if passed else None


def one_time(attempt: Attempt) -> float:
    """The time of an attempt's profile in ns; 0 if it was not measured."""
    return attempt.profile.time_ns if attempt.HasField("profile") else 0.0


def _by_interest(count: int, best: int | None) -> list[int]:
    newest_first = list(range(count - 1, -1, -1))
    return newest_first if best is None else [best, *(i for i in newest_first if i != best)]


def _section(number: int, result: str, source: str, best: int | None) -> str:
    mark = " (the fastest so far)" if number == best else ""
    return f"### Attempt {number + 1}{mark}\n\n{result}\n\n{source}".rstrip()


def _first_of_its_kind(attempts: Sequence[Attempt]) -> list[int]:
    """For each attempt the number of the first one that had the same sources."""
    first: dict[tuple[bytes, ...], int] = {}
    contents = [tuple(source.contents for source in attempt.candidate.sources) for attempt in attempts]
    return [first.setdefault(one, number) for number, one in enumerate(contents)]


def _fitting(sources: Mapping[int, str], room: int) -> dict[int, str]:
    """As many of the sources, in order, as the room takes; the newest one cut where it is too long."""
    left_out = "(Its source is left out for want of room.)"
    shown = dict.fromkeys(sources, left_out)
    for number, source in sources.items():
        if len(source) <= room:
            shown[number] = source
            room -= len(source)
    newest = max(sources, default=-1)
    if newest >= 0 and shown[newest] == left_out and room > _LEAST_SOURCE_CHARS:
        shown[newest] = clip(sources[newest], room)
    return shown


def _repeated(number: int) -> str:
    return f"The same source as attempt {number + 1}: a repetition brings nothing."


def _source(attempt: Attempt) -> str:
    files = attempt.candidate.sources
    return "\n".join(fence(one.contents.decode(errors="replace"), _tag(one.path)) for one in files)


def _tag(path: str) -> str:
    return {"py": "python", "txt": "text"}.get(path.rpartition(".")[2], "cpp")


def _result(attempt: Attempt, hidden: set[str]) -> str:
    report = attempt.report
    lines = [f"Verdict: {VerificationReport.Verdict.Name(report.verdict)}."]
    lines += _why(report, hidden)
    lines += _diagnostics(attempt)
    lines += _failed_cases(report, hidden)
    lines += _findings(attempt, hidden)
    lines += _speed(attempt)
    lines += _reflection(attempt)
    return "\n".join(lines)


def _why(report: VerificationReport, hidden: set[str]) -> list[str]:
    """The explanation, unless it is made of the findings, which say where."""
    secret = {*hidden, *(one.message for one in report.findings if one.case_id in hidden)}
    if any(text and text in report.explanation for text in secret):
        return ["Why: a case that is not shown does not pass; the kernel must be right for any shape and value"]
    if not report.explanation or _is_found(report.explanation, report):
        return []
    return [f"Why: {clip(report.explanation, _MOST_WORDS)}"]


def _is_found(explanation: str, report: VerificationReport) -> bool:
    return any(one.message and one.message in explanation for one in report.findings)


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
        and not _is_found(one.explanation, report)
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
