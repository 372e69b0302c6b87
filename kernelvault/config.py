"""Configuration from the environment: `KERNELVAULT_*` names, parsed once; unknown names are refused."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

PREFIX = "KERNELVAULT_"
Config = TypeVar("Config")


class ConfigError(Exception):
    """The environment holds an unknown name or a malformed value."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """What every server needs. A service adds its own fields by subclassing."""

    # Where to listen. Loopback unless an operator says otherwise.
    address: str = "127.0.0.1:0"
    # Prometheus port; 0 picks a free one, -1 serves no metrics.
    metrics_port: int = -1
    log_level: str = "info"
    # `json` or `console`.
    log_format: str = "json"
    # OTLP/gRPC collector for traces; empty: no traces are exported.
    otlp_endpoint: str = ""
    # How long running calls may go on after SIGTERM.
    drain_seconds: float = 30.0
    # A file that gets `address` and `metrics` lines once the server listens; empty: none.
    ready_file: str = ""


def load(kind: type[Config], environment: Mapping[str, str]) -> Config:
    """Parses `KERNELVAULT_<FIELD>` variables into `kind`; raises ConfigError for an unknown name or a bad value."""
    hints = typing.get_type_hints(kind)
    known = {PREFIX + field.name.upper(): field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for name, text in environment.items():
        if not name.startswith(PREFIX):
            continue
        if name not in known:
            close = difflib.get_close_matches(name.removeprefix(PREFIX).lower(), known.values(), 1)
            hint = f"; did you mean {PREFIX}{close[0].upper()}?" if close else f"; known are {', '.join(sorted(known))}"
            raise ConfigError(f"failed to read the configuration: unknown variable {name}{hint}")
        values[known[name]] = _parse(name, text, hints[known[name]])
    try:
        return kind(**values)
    except TypeError as error:
        missing = [n for n, f in known.items() if f in str(error)]
        raise ConfigError(f"failed to read the configuration: set {' and '.join(missing) or error}") from error


def _parse(name: str, text: str, hint: Any) -> Any:
    if isinstance(hint, types.UnionType):
        hint = next(h for h in typing.get_args(hint) if h is not type(None))
    try:
        if hint is bool:
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[text.lower()]
        if typing.get_origin(hint) is tuple:
            return tuple(part.strip() for part in text.split(",") if part.strip())
        if hint is Path:
            return Path(text).expanduser()
        return hint(text)
    except (KeyError, ValueError) as error:
        kind = getattr(hint, "__name__", str(hint))
        raise ConfigError(f"failed to read the configuration: {name}={text!r} is not a valid {kind}") from error
