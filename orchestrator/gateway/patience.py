"""How long a request waits for a service that is away, as opposed to one that is busy."""

from __future__ import annotations

import contextvars
import time

from kernelvault import errors

# Longer than the client waits between two tries: trouble that comes after it is new trouble.
_QUIET_S = 15.0


class Patience:
    """Hears why the calls of one request wait; ends the waiting for a service that stays away."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._first = self._last = float("-inf")

    def heard(self, error: errors.Unavailable) -> None:
        """Raises `error` where nothing but the like was heard for too long. A full queue is no trouble."""
        if error.reason == "QUEUE_FULL":
            return
        now = time.monotonic()
        if now - self._last > _QUIET_S:
            self._first = now
        self._last = now
        if now - self._first > self._seconds:
            raise error


_current: contextvars.ContextVar[Patience | None] = contextvars.ContextVar("patience", default=None)


def begin(seconds: float) -> None:
    """Begins the patience of a request, for the rest of this task and those that it starts."""
    _current.set(Patience(seconds))


def on_wait(error: errors.Error) -> None:
    """For `Client(on_wait=...)`; raises the error where the request has waited enough."""
    patience = _current.get()
    if patience is not None and isinstance(error, errors.Unavailable):
        patience.heard(error)
