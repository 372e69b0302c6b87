"""What a client says of itself."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

from kernelvault import config
from kernelvault.access import files, guard, tokens
from kernelvault.config import ConfigError

_passed_on: contextvars.ContextVar[str | None] = contextvars.ContextVar("passed_on", default=None)


@contextlib.contextmanager
def on_behalf_of(authorization: str) -> Iterator[None]:
    """Calls made within carry this `authorization` header, or none where it is empty, in place of the client's own.

    For a gateway, whose callers must never act with its rights.
    """
    token = _passed_on.set(authorization)
    try:
        yield
    finally:
        _passed_on.reset(token)


class Authorization:
    """The header of a client's calls; its token's file is read again when it changes."""

    def __init__(self, settings: config.ClientConfig) -> None:
        """Raises ConfigError where the token cannot be read, or is given twice."""
        if settings.token and settings.token_file:
            raise ConfigError(
                "failed to read the configuration: set one of KERNELVAULT_TOKEN and KERNELVAULT_TOKEN_FILE"
            )
        self._value = tokens.check(settings.token, "KERNELVAULT_TOKEN") if settings.token else ""
        self._file: files.Reloaded[str] | None = None
        if path := settings.token_file:
            variable = "KERNELVAULT_TOKEN_FILE"

            def read() -> str:
                text = files.read(variable, path).decode("utf-8", "replace").strip()
                return tokens.check(text, f"{variable}={str(path)!r}")

            self._file = files.Reloaded([path], read)

    def headers(self) -> list[tuple[str, str]]:
        """The metadata to send; none without a token."""
        passed_on = _passed_on.get()
        if passed_on is not None:
            return [(guard.HEADER, passed_on)] if passed_on else []
        token = self._file.current() if self._file else self._value
        return [(guard.HEADER, f"Bearer {token}")] if token else []
