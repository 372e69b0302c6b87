"""What went wrong, for the user: one message that says what to do."""

from __future__ import annotations

from kernelvault import errors
from kernelvault.config import ConfigError
from orchestrator.mistake import Mistake

_REMEDIES = {
    "MISSING_TOKEN": "`kernelvault token create` makes tokens",
    "NOT_TRUSTED": "compare KERNELVAULT_TLS_CA_FILE and KERNELVAULT_TLS_SERVER_NAME with the server's certificate, and "
    "KERNELVAULT_TLS_CLIENT_CERT_FILE with the server's KERNELVAULT_TLS_CLIENT_CA_FILE",
    "NOT_RUNNING": "start the services with `kernelvault up`",
    "NOT_SERVING": "its log in the state folder says why; `kernelvault up` brings back what died",
    "REFERENCE_UNFIT": "mend the reference: it must run, end in time, be deterministic and leave its inputs alone",
    "NOT_TRACEABLE": "name a model with --model that rewrites it",
    "SOURCE_TOO_LARGE": "a source holds at most 1 MiB",
}


def explain(error: Exception) -> str | None:
    """The message for an error that is not ours; None for a bug of this program."""
    if isinstance(error, Mistake | ConfigError):
        return str(error)
    if isinstance(error, errors.Error):
        remedy = _REMEDIES.get(error.reason)
        if remedy is None and isinstance(error, errors.Unavailable):
            remedy = "see `kernelvault status`"
        if remedy is None and isinstance(error, errors.Internal):
            remedy = "see the service's log in the state folder"
        return f"{error}; {remedy}" if remedy else str(error)
    if isinstance(error, OSError) and error.filename:
        return f"failed to use {str(error.filename)!r}: {error.strerror}"
    return None
