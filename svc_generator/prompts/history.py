"""Earlier attempts as a model reads them: what happened, why, and what to try, within a budget of characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernelvault.v1.compiler_pb2 import VerificationReport
from kernelvault.v1.generator_pb2 import Attempt
from kernelvault.v1.kernel_pb2 import Task
from svc_generator.prompts import outcome
from svc_generator.prompts.markdown import clip, file

_LEAST_SOURCE_CHARS = 400


def render(attempts: Sequence[Attempt], task: Task, budget_chars: int, *, newest_first: bool = False) -> str:
    """Every attempt's result and, as far as the budget goes, sources: of the best, then of the newest ones.

    With `newest_first` the newest one's source comes before the best one's. What is known of hidden cases is left out.
    """
    hidden = outcome.hidden_cases(task)
    best = fastest(attempts)
    first = _first_of_its_kind(attempts)
    results = [
        outcome.describe(attempt, hidden) if first[number] == number else _repeated(first[number])
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
    return "\n".join(map(file, attempt.candidate.sources))
