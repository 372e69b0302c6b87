"""Says who a caller is, and whether that is enough for a call."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence

from prometheus_client import Counter

from kernelvault import config, errors
from kernelvault.access import caller, files, roles, tokens
from kernelvault.access.caller import Caller

HEADER = "authorization"
_SCHEME = "bearer"
_refused = Counter("kernelvault_access_refused_total", "Calls that were refused", ["reason"])


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


class Guard:
    """Knows the callers of a server.

    With a tokens file a call needs a token of it, or a certificate that it names. Without one, whoever may connect may
    do everything: anybody, or, where the server asks for certificates, those who have one.
    """

    def __init__(
        self, known: files.Reloaded[tokens.Tokens] | None, *, now: Callable[[], datetime.datetime] = _now
    ) -> None:
        self._known = known
        self._now = now

    @classmethod
    def of(cls, settings: config.ServerConfig) -> Guard:
        """The guard of a server; raises ConfigError where the tokens file cannot be used."""
        return cls(tokens.load(settings.tokens_file) if settings.tokens_file else None)

    def identify(self, metadata: Iterable[tuple[str, str | bytes]], certificate_names: Sequence[str]) -> Caller:
        """Who calls; raises errors.Unauthenticated.

        `certificate_names` are those in a certificate that the transport has verified; the first one is shown.
        """
        try:
            return self._identify(metadata, certificate_names)
        except errors.Unauthenticated as error:
            _refused.labels(error.reason).inc()
            raise

    def check(self, method: str, who: Caller) -> None:
        """Raises errors.PermissionDenied where none of the caller's roles is enough for `method`."""
        needed = roles.needed(method)
        if needed and not needed & roles.widened(who.roles):
            error = _not_allowed(method, needed, who)
            _refused.labels(error.reason).inc()
            raise error

    def _identify(self, metadata: Iterable[tuple[str, str | bytes]], certificate_names: Sequence[str]) -> Caller:
        shown = certificate_names[0] if certificate_names else ""
        if self._known is None:
            return Caller(shown, roles.EVERY, shown) if shown else caller.ANYBODY
        known = self._known.current()
        token = _token_of(metadata)
        entry = known.by_token(token) if token else known.by_certificate(certificate_names)
        if entry is None:
            raise _unknown() if token else _missing()
        if entry.expired(self._now()):
            raise errors.Unauthenticated(
                "EXPIRED_TOKEN", f"the token expired on {entry.expires:%Y-%m-%d at %H:%M:%S} UTC; ask for a new one"
            )
        return Caller(entry.name, entry.roles, shown)


def _token_of(metadata: Iterable[tuple[str, str | bytes]]) -> str:
    """The bearer token of a call; empty: it has none. Raises errors.Unauthenticated for another scheme."""
    values = [value for key, value in metadata if key == HEADER]
    if not values:
        return ""
    scheme, _, token = str(values[0]).partition(" ")
    if len(values) > 1 or scheme.lower() != _SCHEME or not token.strip():
        raise errors.Unauthenticated("MALFORMED_TOKEN", "the authorization header is not one `Bearer TOKEN`")
    return token.strip()


def _missing() -> errors.Unauthenticated:
    return errors.Unauthenticated(
        "MISSING_TOKEN",
        "the call has no token: set KERNELVAULT_TOKEN_FILE or KERNELVAULT_TOKEN, or send the header "
        "`authorization: Bearer TOKEN`",
    )


def _unknown() -> errors.Unauthenticated:
    return errors.Unauthenticated("UNKNOWN_TOKEN", "the call's token is none of this server's; ask for a new one")


def _not_allowed(method: str, needed: frozenset[int], found: Caller) -> errors.PermissionDenied:
    words = " or ".join(roles.names(needed))
    has = ", ".join(roles.names(found.roles))
    return errors.PermissionDenied(
        "ROLE_NEEDED",
        f"{method.rpartition('/')[2]} needs the role {words}; {found.name} has {has}",
        needed=words,
        caller=found.name,
    )
