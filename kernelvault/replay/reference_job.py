"""Runs the reference's child once and reads what it left, trusting none of it."""

from __future__ import annotations

import json
import os
import signal
import stat
from pathlib import Path
from typing import Any, Protocol

from kernelvault import errors
from kernelvault.replay import reference_faults as faults
from kernelvault.sandbox import Job, Limits, Outcome
from kernelvault.v1 import artifact_pb2

ENTRY = "kernelvault.replay.reference_child:main"
MAX_REPLY_BYTES = 16 << 20
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Runner(Protocol):
    """What runs jobs: a Sandbox or what decorates one."""

    async def run(self, job: Job) -> Outcome:
        """Runs the job to its end."""
        ...


async def run(sandbox: Runner, folder: Path, request: dict[str, Any], limits: Limits) -> Outcome:
    """Runs one request; `folder` gets the child's files."""
    job = Job(folder=folder, entry=ENTRY, payload=json.dumps(request).encode(), environment=ENVIRONMENT, limits=limits)
    return await sandbox.run(job)


def source(artifact: artifact_pb2.Artifact, field: str) -> str:
    """The text of a Python module; raises InvalidArgument."""
    if not artifact.contents:
        raise errors.InvalidArgument(field, f"is empty; send the Python module in `{field}.contents`")
    try:
        return artifact.contents.decode()
    except UnicodeDecodeError as error:
        raise errors.InvalidArgument(field, f"is not UTF-8 text: {error.reason} at byte {error.start}") from None


def open_child_file(path: Path, max_bytes: int) -> int | None:
    """A descriptor of a regular file that foreign code may have made, or None; links and larger files count as none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and status.st_size <= max_bytes:
        return descriptor
    os.close(descriptor)
    return None


def read_child_file(path: Path, max_bytes: int = MAX_REPLY_BYTES) -> bytes | None:
    """The bytes of a file of the child, or None."""
    descriptor = open_child_file(path, max_bytes)
    if descriptor is None:
        return None
    with open(descriptor, "rb") as file:
        return file.read(max_bytes)


def fault(path: Path) -> tuple[str, str] | None:
    """The kind and the message of a fault that the child wrote, or None."""
    data = read_child_file(path)
    if data is None:
        return None
    try:
        parsed = json.loads(data)
        kind, message = str(parsed["kind"]), str(parsed["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return faults.Unfit.kind, "its process left a fault that cannot be read"
    text = message.encode("utf-8", "replace").decode()
    return kind, text[: faults.MAX_MESSAGE_CHARACTERS]


def error_of(kind: str, message: str) -> errors.Error:
    """The error of a call whose task has this fault."""
    if kind == "malformed":
        return errors.InvalidArgument("reference", message, "REFERENCE_MALFORMED")
    if kind == "internal":
        return errors.Internal("REFERENCE_FAILED", f"failed to run the reference: {message}")
    if kind in ("not_traceable", "not_equivalent"):
        return errors.FailedPrecondition(kind.upper(), f"reference: {message}")
    return errors.FailedPrecondition("REFERENCE_UNFIT", f"reference: {message}")


def ending(outcome: Outcome, limits: Limits) -> str:
    """Why a child left no result, as the predicate of a sentence about the reference."""
    if outcome.timed_out:
        return f"does not end within {limits.wall_seconds:g} s; look for an endless loop, or use smaller inputs"
    if outcome.out_of_memory:
        return f"needs more than {limits.memory_bytes / (1 << 30):g} GiB of memory; use smaller inputs"
    if outcome.signal == signal.SIGXFSZ:
        return (
            f"has more than {limits.file_bytes >> 20} MiB of inputs or outputs in a case; "
            "name the sizes as module-level integers, or write get_cases"
        )
    return f"ends its process without a result ({outcome.describe()}); it must return instead"
