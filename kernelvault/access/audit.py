"""Who had what done: one line of JSON for each call that changes or costs something, refused ones included."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import structlog
from google.protobuf.message import Message

from kernelvault.access import caller
from kernelvault.config import ConfigError
from kernelvault.v1 import artifact_pb2

_MOST_ITEMS = 16
_MOST_CHARACTERS = 200
# What names a thing, and the messages in which such things are; contents, explanations and measurements stay out.
_NAMES = frozenset(
    ("name", "task", "title", "snapshot", "snapshot_id", "model", "device", "run", "request_id", "sample")
)
_INTO = frozenset(("task", "action", "action_result", "candidate", "sample", "report", "profile", "lineage"))
_ENUMS = frozenset(("verdict", "formula", "method"))


class AuditLog:
    """Writes audit lines, with `event` first to tell them from the rest of a log."""

    def __init__(self, write: Callable[[str], None]) -> None:
        """`write` gets each line without its end."""
        self._log = structlog.wrap_logger(
            _Sink(write),
            processors=[structlog.processors.TimeStamper(fmt="iso", utc=True), structlog.processors.JSONRenderer()],
            wrapper_class=structlog.BoundLogger,
        )

    @classmethod
    def to(cls, path: Path | None) -> AuditLog:
        """An audit log in a file, or on stderr; raises ConfigError where the file cannot be written."""
        return cls(_AppendedFile(path)) if path else cls(lambda line: print(line, file=sys.stderr, flush=True))

    @contextlib.contextmanager
    def entry(self, *, method: str, peer: str, request_id: str) -> Iterator[Entry]:
        """Writes one line when the block ends, however it does; the block fills in the entry."""
        entry, started = Entry(), time.monotonic()
        try:
            yield entry
        finally:
            self._log.info(
                "audit",
                who=entry.who.name,
                certificate=entry.who.certificate,
                peer=peer,
                method=method,
                code=entry.code,
                request_id=request_id,
                seconds=round(time.monotonic() - started, 3),
                what=entry.what,
                result=entry.result,
            )


class Entry:
    """What is found out about a call while it runs."""

    def __init__(self) -> None:
        self.who = caller.NOBODY
        self.code = "CANCELLED"
        self.what: dict[str, Any] = {}
        self.result: dict[str, Any] = {}
        self._seen_request = False

    def request(self, message: Message) -> None:
        """Hears of each request; the first says what the call is about."""
        if not self._seen_request:
            self._seen_request = True
            self.what = named(message)

    def response(self, message: Message) -> None:
        """Hears of each response; the last that names something is what came of the call."""
        self.result = named(message) or self.result


def named(message: Message) -> dict[str, Any]:
    """The names, digests and verdicts in a message, by the paths of their fields; never contents."""
    return dict(item for item, _ in zip(_items(message, ""), range(_MOST_ITEMS), strict=False))


def _items(message: Message, prefix: str) -> Iterator[tuple[str, Any]]:
    for field, value in message.ListFields():
        for index, item in enumerate(value if field.is_repeated else [value]):
            path = f"{prefix}{field.name}" + (f"[{index}]" if field.is_repeated else "")
            if isinstance(item, artifact_pb2.Digest):
                yield path, item.hash[:64]
            elif isinstance(item, artifact_pb2.Artifact):
                yield path, f"{item.path[:_MOST_CHARACTERS]}@{_digest_of(item)}"
            elif isinstance(item, Message):
                if field.name in _INTO:
                    yield from _items(item, f"{path}.")
            elif field.enum_type is not None and field.name in _ENUMS:
                known = field.enum_type.values_by_number.get(item)
                yield path, known.name if known else item
            elif isinstance(item, str) and field.name in _NAMES and item:
                yield path, item[:_MOST_CHARACTERS]


def _digest_of(artifact: artifact_pb2.Artifact) -> str:
    """The digest of what was sent, not what its sender says of it."""
    if artifact.contents:
        return hashlib.sha256(artifact.contents).hexdigest()
    return artifact.digest.hash[:64]


class _Sink:
    """structlog's end: a line goes to a function."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.info = write


class _AppendedFile:
    """A file that lines are appended to, each by one write; opened anew when it was moved away (logrotate)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            self._file = self._open()
        except OSError as error:
            raise ConfigError(f"failed to write KERNELVAULT_AUDIT_FILE={str(path)!r}: {error.strerror}") from error

    def __call__(self, line: str) -> None:
        with self._lock:
            try:
                if not self._same():
                    moved, self._file = self._file, self._open()
                    os.close(moved)
                os.write(self._file, line.encode() + b"\n")
            except OSError as error:
                # The line must not be lost: the log keeps it.
                print(line, file=sys.stderr, flush=True)
                structlog.get_logger().error("the audit file cannot be written", error=str(error))

    def _open(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _same(self) -> bool:
        try:
            there, ours = self._path.stat(), os.fstat(self._file)
        except FileNotFoundError:
            return False
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
