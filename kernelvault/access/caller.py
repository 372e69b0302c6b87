"""Who makes the call that is being served, for whoever needs to know: the log, the audit log, queues."""

from __future__ import annotations

import contextvars
import dataclasses
import re
import uuid

from kernelvault.access import roles

REQUEST_ID = "x-request-id"
_PLAIN = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


@dataclasses.dataclass(frozen=True)
class Caller:
    """A token's name, or a certificate's; `anonymous` where the server asks nobody.

    `certificate` is the name in the certificate that the connection showed, whoever's token the call carries.
    """

    name: str
    roles: frozenset[int]
    certificate: str = ""


ANONYMOUS = "anonymous"
NOBODY = Caller(ANONYMOUS, frozenset())
ANYBODY = Caller(ANONYMOUS, roles.EVERY)

_caller: contextvars.ContextVar[Caller] = contextvars.ContextVar("caller", default=NOBODY)
_request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="")


def current() -> Caller:
    """The caller that is being served; `NOBODY` outside of a call, and in work that several callers share."""
    return _caller.get()


def serve(caller: Caller) -> None:
    """Makes `caller` the current one, for the rest of this task."""
    _caller.set(caller)


def request_id() -> str:
    """The request id of the call that is being served; a new one outside of a call."""
    return _request_id.get() or uuid.uuid4().hex


def adopt_request_id(given: str | bytes | None) -> str:
    """Takes over a request id that a caller sent, if it is harmless in a log, or makes one; returns it."""
    plain = isinstance(given, str) and _PLAIN.fullmatch(given)
    chosen = given if plain else uuid.uuid4().hex
    _request_id.set(str(chosen))
    return str(chosen)
