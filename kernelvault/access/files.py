"""Files that are read again when they change: a certificate or a token is replaced without a restart."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import structlog
from prometheus_client import Gauge

from kernelvault.config import ConfigError

Value = TypeVar("Value")
_Stamp = tuple[tuple[int, int, int] | None, ...]

_TRIES = 5
_log = structlog.get_logger()
_stale = Gauge(
    "kernelvault_credentials_stale",
    "1: the file changed and cannot be used, so its last content still counts",
    ["file"],
)


class Reloaded(Generic[Value]):
    """What some files say, read again whenever one of them differs by its inode, size or time of change.

    A change that cannot be used leaves the last value in force and is logged once: half-written files and an operator's
    mistake must not stop a server. Threads may share it; looking costs a stat of each file.
    """

    def __init__(self, paths: Sequence[Path], read: Callable[[], Value]) -> None:
        """Reads at once; raises ConfigError as `read` does."""
        self._paths = tuple(paths)
        self._read = read
        self._lock = threading.Lock()
        self._stamp, self._value = self._settled()
        _stale.labels(self._label).set(0)

    def current(self) -> Value:
        """The value of the files as they are, or as they last could be used."""
        with self._lock:
            if self._look() != self._stamp:
                self._renew()
            return self._value

    def _renew(self) -> None:
        try:
            self._stamp, self._value = self._settled()
        except ConfigError as error:
            self._stamp = self._look()
            _stale.labels(self._label).set(1)
            _log.error("changed credentials cannot be used", files=self._label, error=str(error))
        else:
            _stale.labels(self._label).set(0)
            _log.info("credentials were read again", files=self._label)

    def _settled(self) -> tuple[_Stamp, Value]:
        """The value and the stamp it belongs to: files that change while they are read are read once more."""
        for _ in range(_TRIES):
            stamp = self._look()
            try:
                value = self._read()
            except ConfigError:
                if self._look() == stamp:
                    raise
                continue
            if self._look() == stamp:
                return stamp, value
        raise ConfigError(f"failed to read {self._label}: it keeps changing")

    def _look(self) -> _Stamp:
        return tuple(_stamp_of(path) for path in self._paths)

    @property
    def _label(self) -> str:
        return ", ".join(str(path) for path in self._paths)


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def read(variable: str, path: Path, *, max_bytes: int = 1 << 20) -> bytes:
    """The bytes of the file that `variable` names; raises ConfigError where it cannot be read or is too large."""
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise ConfigError(f"failed to read {variable}={str(path)!r}: {error.strerror}") from error
    if len(data) > max_bytes:
        raise ConfigError(f"failed to read {variable}={str(path)!r}: it is above {max_bytes} bytes")
    return data
