"""Configuration from the environment: `KERNELVAULT_*` names, parsed once; unknown names are refused."""

from __future__ import annotations

import dataclasses
import difflib
import errno
import os
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

PREFIX = "KERNELVAULT_"
Config = TypeVar("Config")


class ConfigError(Exception):
    """The environment holds an unknown name, a malformed value or one that cannot be used here."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClientConfig:
    """What every caller needs: whom it trusts and who it is. `docs/security.md` explains each."""

    # Certificates (PEM) of those who may vouch for a server; set: every connection is TLS.
    tls_ca_file: Path | None = None
    # The caller's own certificate and its key, for servers that want one.
    tls_client_cert_file: Path | None = None
    tls_client_key_file: Path | None = None
    # The name in the servers' certificates where it is not that of their address.
    tls_server_name: str = ""
    # A bearer token, by a file or by value.
    token_file: Path | None = None
    token: str = dataclasses.field(default="", repr=False)
    # Without TLS off the loopback interface too: where a service mesh encrypts.
    allow_plaintext: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class ServerConfig(ClientConfig):
    """What every server needs, as a caller too. A service adds its own fields by subclassing."""

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
    # The server's certificate chain and its key (PEM); set: it speaks TLS only.
    tls_cert_file: Path | None = None
    tls_key_file: Path | None = None
    # Certificates of those who may vouch for a caller; set: every caller must show a certificate.
    tls_client_ca_file: Path | None = None
    # Who may call: lines that `kernelvault token create` prints.
    tokens_file: Path | None = None
    # Anybody off the loopback interface too may call everything.
    allow_anonymous: bool = False
    # Gets a line for each call that changes or costs something; unset: they go to the log.
    audit_file: Path | None = None
    # A connection is ended when it is this old, so that clients see new replicas; its calls may go on for the grace.
    max_connection_age_seconds: float = 600.0
    max_connection_age_grace_seconds: float = 3600.0


def of_client(environment: Mapping[str, str]) -> ClientConfig:
    """A command's or a library's settings; variables of services take no part. Raises ConfigError for a bad value."""
    known = {PREFIX + field.name.upper() for field in dataclasses.fields(ClientConfig)}
    return load(ClientConfig, {name: text for name, text in environment.items() if name in known})


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


def writable(folder: Path, variable: str) -> Path:
    """`folder`, made where it is missing; raises ConfigError where nobody can write there, naming its `variable`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        reason = "" if os.access(folder, os.W_OK | os.X_OK) else os.strerror(errno.EACCES)
    except OSError as error:
        reason = str(error.strerror)
    if reason:
        remedy = f"set {PREFIX}{variable} to a folder that can be written"
        raise ConfigError(f"failed to write to {folder}: {reason}; {remedy}")
    return folder


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
