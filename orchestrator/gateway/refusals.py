"""Errors as HTTP answers: whose fault it is decides the status. None looks like a kernel that failed."""

from __future__ import annotations

import math
from typing import Any

from starlette.responses import JSONResponse

from kernelvault import errors
from kernelvault.access import caller
from orchestrator.gateway.fields import Malformed

# What a platform's fault other than UNAVAILABLE, which says so itself, says of when to come back, in seconds.
_RETRY_S = 5.0


class TooLarge(Exception):
    """The body is above the limit, in bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the body is above {limit} bytes; send smaller batches")


class TooSlow(Exception):
    """The body did not come in time."""


class Unjudged(Exception):
    """Candidates that are neither right nor wrong: their places in the request, and why."""

    def __init__(self, found: dict[int, str]) -> None:
        super().__init__("needs a device")
        self.found = found


# Whatever else ends a request is a fault of ours, for the log.
EXPECTED = (errors.Error, Malformed, TooLarge, TooSlow, Unjudged, TimeoutError)


def answer(error: Exception) -> JSONResponse:
    """The answer to a request that ended with `error`."""
    if isinstance(error, Malformed):
        return _json(error.status, error.detail)
    if isinstance(error, TooLarge):
        return _json(413, str(error))
    if isinstance(error, TooSlow):
        return _json(408, "the body did not come in time")
    if isinstance(error, Unjudged):
        unjudged = [{"index": index, "reason": reason} for index, reason in sorted(error.found.items())]
        text = "some candidates are neither right nor wrong here; leave them out, or give them no reward"
        return _json(501, text, reason="NEEDS_DEVICE", unjudged=unjudged)
    if isinstance(error, errors.Unauthenticated):
        return _json(401, str(error), {"WWW-Authenticate": "Bearer"}, reason=error.reason)
    if isinstance(error, errors.PermissionDenied):
        return _json(403, str(error), reason=error.reason)
    return _platform(error)


def _platform(error: Exception) -> JSONResponse:
    seconds, reason, text = _RETRY_S, "INTERNAL", "an unexpected error, see the gateway's log"
    if isinstance(error, errors.Error):
        reason, text = error.reason, str(error)
        seconds = error.retry_after_s if isinstance(error, errors.Unavailable) else _RETRY_S
    elif isinstance(error, TimeoutError):
        reason, text = "DEADLINE", "it was not done in time; what is done by now is answered from the cache"
    return _json(503, text, {"Retry-After": str(max(1, math.ceil(seconds)))}, reason=reason)


def _json(status: int, detail: Any, headers: dict[str, str] | None = None, **more: Any) -> JSONResponse:
    content = {"detail": detail, **more, "request_id": caller.request_id()}
    return JSONResponse(content, status, headers)
