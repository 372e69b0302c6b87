"""What is wrong with a reference, as the sandboxed child says it and the parent reads it."""

from __future__ import annotations

import traceback

MAX_MESSAGE_CHARACTERS = 2000


class ReferenceFault(Exception):
    """The task's own module is at fault: not the candidate, not the platform. The message says what to do."""


class Unusable(Exception):
    """Raised in the child. `kind` is the status that the caller of the service gets."""

    kind = "unfit"


class Malformed(Unusable):
    """The module lacks a part, does not parse, or its cases are malformed."""

    kind = "malformed"


class Unfit(Unusable):
    """The module has all its parts but fails, is not deterministic, or changes its inputs."""


class NotTraceable(Unusable):
    """torch.fx cannot follow the module."""

    kind = "not_traceable"


class NotEquivalent(Unusable):
    """A functional form does not do what its module does."""

    kind = "not_equivalent"


class Internal(Unusable):
    """The child itself failed: no fault of the module."""

    kind = "internal"


def describe(error: BaseException, path: str) -> str:
    """`ValueError: bad shape (line 12)`: the exception and the line of the module in which it arose."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    where = f" (line {lines[-1]})" if lines else ""
    text = str(error).strip().split("\n")[0][:400]
    return f"{type(error).__name__}{': ' + text if text else ''}{where}"
