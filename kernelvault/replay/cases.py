"""Cases of a task: how their secret seeds are derived and which of them the CPU model can run."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable

from kernelvault import errors
from kernelvault.replay import bundle
from kernelvault.v1 import kernel_pb2

# Above either, a case is too large for the CPU model to run at every verification: about a second under its checker.
MAX_ELEMENTS = 1 << 18
MAX_FLOPS = 1 << 27
MAX_CASES = 128
ID_RULE = "1 to 100 of letters, digits, `.`, `_`, `+`, `=` and `-`, a letter or digit first"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=-]{0,99}")
Case = kernel_pb2.Case

# How a task's `distributions` are spelled.
DISTRIBUTIONS: dict[str, int] = {
    "given": Case.GIVEN,
    "normal": Case.NORMAL,
    "uniform": Case.UNIFORM,
    "large": Case.LARGE,
    "tiny": Case.TINY,
    "zeros": Case.ZEROS,
    "negative": Case.NEGATIVE,
}


def task_key(secret: bytes, reference_hash: str) -> bytes:
    """What the seeds of one task's cases are derived from: nothing of another task follows from it."""
    return hmac.new(secret, f"task {reference_hash}".encode(), hashlib.sha256).digest()


def seed(key: bytes, case_id: str) -> int:
    """The seed of a case, of 63 bits: HMAC-SHA256 of its id under the task's key. It stands in no message."""
    return int.from_bytes(hmac.new(key, case_id.encode(), hashlib.sha256).digest()[:8], "little") >> 1


def elements(parameters: Iterable[kernel_pb2.Parameter]) -> int:
    """How many tensor elements the parameters have together."""
    return sum(bundle.element_count(p.tensor.dims) for p in parameters if p.HasField("tensor"))


def tensor_bytes(parameters: Iterable[kernel_pb2.Parameter]) -> int:
    """How many bytes the parameters' storages take, aligned as in a bundle."""
    return sum(bundle.span_bytes(p.tensor) + bundle.ALIGNMENT for p in parameters if p.HasField("tensor"))


def is_id(text: str) -> bool:
    """Whether a case may be called so."""
    return _ID.fullmatch(text) is not None


def check(case: kernel_pb2.Case, field: str) -> None:
    """Raises InvalidArgument for a case that no reader should act on: it may come from a child or from a caller."""
    if not is_id(case.id):
        raise errors.InvalidArgument(f"{field}.id", f"{case.id[:120]!r} is not {ID_RULE}")
    for group, parameters in (("parameters", case.parameters), ("outputs", case.outputs)):
        for index, parameter in enumerate(parameters):
            try:
                if parameter.HasField("tensor"):
                    bundle.check_view(parameter.tensor)
            except bundle.Malformed as error:
                raise errors.InvalidArgument(f"{field}.{group}[{index}]", str(error)) from None


def check_all(cases: Iterable[kernel_pb2.Case], field: str) -> None:
    """Checks each case and that their ids differ; raises InvalidArgument."""
    seen: set[str] = set()
    for index, case in enumerate(cases):
        check(case, f"{field}[{index}]")
        if case.id in seen:
            raise errors.InvalidArgument(f"{field}[{index}].id", f"{case.id!r} stands twice; give each case its own id")
        seen.add(case.id)
