"""Sample filters as conditions on the samples table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kernelvault import errors
from kernelvault.v1 import compiler_pb2, corpus_pb2, kernel_pb2

TASK = re.compile(r"tasks/[a-z0-9_-]{1,80}-[0-9a-f]{12}")
SAMPLE = re.compile(r"samples/[0-9a-f]{64}")
SNAPSHOT_ID = re.compile(r"[a-z0-9_-]{1,100}")
MAX_TEXT = 200
_MAX_VALUES = 1000

verdict_name = compiler_pb2.VerificationReport.Verdict.Name
language_name = kernel_pb2.Candidate.Language.Name


def condition(wanted: corpus_pb2.SampleFilter) -> str:
    """The SQL condition of a filter, empty where it matches all; raises errors.InvalidArgument."""
    for index, task in enumerate(wanted.tasks):
        check_name(TASK, task, f"filter.tasks[{index}]", "tasks/{title}-{12 hex digits}")
    verdicts = [_enum(verdict_name, value, "filter.verdicts") for value in wanted.verdicts]
    languages = [_enum(language_name, value, "filter.languages") for value in wanted.languages]
    columns = {
        "task": wanted.tasks,
        "verdict": verdicts,
        "model": wanted.models,
        "language": languages,
        "run": wanted.runs,
    }
    return both(*(_among(column, values) for column, values in columns.items()))


def both(*conditions: str) -> str:
    """All of the conditions that are not empty."""
    return " AND ".join(f"({one})" for one in conditions if one)


def among(column: str, values: Iterable[str]) -> str:
    """`column` is one of `values`."""
    return f"{column} IN ({', '.join(quoted(value) for value in values)})"


def quoted(text: str) -> str:
    """A string literal."""
    return "'" + text.replace("'", "''") + "'"


def check_name(pattern: re.Pattern[str], name: str, field: str, form: str) -> str:
    """Returns a well-formed name; raises errors.InvalidArgument for another."""
    if not pattern.fullmatch(name):
        raise errors.InvalidArgument(field, f"{name[:120]!r} does not have the form {form}")
    return name


def _among(column: str, values: Sequence[str]) -> str:
    if len(values) > _MAX_VALUES:
        raise errors.InvalidArgument(f"filter.{column}s", f"{len(values)} values are above the limit of {_MAX_VALUES}")
    if any(len(value) > MAX_TEXT or "\0" in value for value in values):
        raise errors.InvalidArgument(f"filter.{column}s", f"has a value that is not text of at most {MAX_TEXT} bytes")
    return among(column, values) if values else ""


def _enum(name_of: object, value: int, field: str) -> str:
    try:
        name: str = name_of(value)  # type: ignore[operator]
    except ValueError:
        name = ""
    if not value or not name:
        raise errors.InvalidArgument(field, f"{value} is not a known value")
    return name
