"""Why a Triton program is turned down."""

from __future__ import annotations


class Malformed(ValueError):
    """A Triton program breaks a rule; the message names the field."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"failed to read a Triton program: {field}: {problem}")


class SourceError(Malformed):
    """The text of a kernel holds what kernels may not: its author can be told where, in the author's own file."""

    def __init__(self, field: str, problem: str, *, file: str, line: int, column: int) -> None:
        super().__init__(field, f"{file}:{line}: {problem}")
        self.file = file
        # Counted from 1.
        self.line = line
        self.column = column
        self.problem = problem


def require(condition: bool, field: str, problem: str) -> None:
    """Raises Malformed unless `condition` holds."""
    if not condition:
        raise Malformed(field, problem)
