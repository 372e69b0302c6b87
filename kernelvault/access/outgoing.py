"""What a client says of itself."""

from __future__ import annotations

from kernelvault import config
from kernelvault.access import files, guard, tokens
from kernelvault.config import ConfigError


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
        token = self._file.current() if self._file else self._value
        return [(guard.HEADER, f"Bearer {token}")] if token else []
