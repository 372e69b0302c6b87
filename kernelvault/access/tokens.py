"""Bearer tokens: made, kept as hashes in a file, recognised.

A line of the file is `NAME ROLES IDENTITY [EXPIRY]`, its words separated by blanks; `#` begins a comment:

    alice    submit,train  sha256:4bd1...90   2027-01-31T00:00:00Z
    compiler service       certificate:compiler.kernelvault.svc

Several lines may have one name: while a token is replaced, the old and the new one are both valid. SHA-256 is enough
for a hash because tokens are 256 random bits that nobody can try.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

from kernelvault.access import files, roles
from kernelvault.config import ConfigError

_VARIABLE = "KERNELVAULT_TOKENS_FILE"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_TOKEN = re.compile(r"[\x21-\x7e]{1,512}")
_HASH = re.compile(r"[0-9a-f]{64}")
_START = "kv_"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """One identity: the hash of a token, or the name in a certificate."""

    name: str
    roles: frozenset[int]
    token_sha256: str = ""
    certificate: str = ""
    expires: datetime.datetime | None = None

    def expired(self, now: datetime.datetime) -> bool:
        """Whether it is no longer valid at `now` (UTC)."""
        return self.expires is not None and now >= self.expires

    def line(self) -> str:
        """The line of the file."""
        identity = f"sha256:{self.token_sha256}" if self.token_sha256 else f"certificate:{self.certificate}"
        words = [self.name, ",".join(roles.names(self.roles)), identity]
        if self.expires:
            words.append(f"{self.expires:%Y-%m-%dT%H:%M:%SZ}")
        return " ".join(words)


class Tokens:
    """The entries of a file."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = tuple(entries)

    def by_token(self, token: str) -> Entry | None:
        """The entry of a token. Every entry is compared in constant time: how long it takes tells nothing."""
        digest, found = _hash_of(token), None
        for entry in self.entries:
            if hmac.compare_digest(entry.token_sha256, digest):
                found = entry
        return found

    def by_certificate(self, names: Iterable[str]) -> Entry | None:
        """The entry of the first of a certificate's names that has one."""
        known = {entry.certificate: entry for entry in reversed(self.entries) if entry.certificate}
        return next((known[name] for name in names if name in known), None)


def create(name: str, allowed: frozenset[int], expires: datetime.datetime | None = None) -> tuple[str, Entry]:
    """A new token and its entry; raises ValueError for a malformed name."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not 1 to 64 letters, digits, `.`, `_`, `@` and `-`")
    token = _START + secrets.token_urlsafe(32)
    whole = expires.astimezone(datetime.UTC).replace(microsecond=0) if expires else None
    return token, Entry(name=name, roles=allowed, token_sha256=_hash_of(token), expires=whole)


def load(path: Path) -> files.Reloaded[Tokens]:
    """The tokens of a file, kept up to date; raises ConfigError with the line that is malformed."""
    return files.Reloaded([path], lambda: parse(files.read(_VARIABLE, path), str(path)))


def parse(data: bytes, source: str) -> Tokens:
    """The entries of a file's bytes; raises ConfigError naming `source` and the line."""
    entries: list[Entry] = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            entry = _entry(words)
            if entry.token_sha256 and entry.token_sha256 in {known.token_sha256 for known in entries}:
                raise ValueError("the same token stands in an earlier line")
        except ValueError as error:
            raise ConfigError(f"failed to read {_VARIABLE}={source!r}, line {number}: {error}") from None
        entries.append(entry)
    return Tokens(entries)


def _entry(words: list[str]) -> Entry:
    if len(words) not in (3, 4):
        raise ValueError("it is not `NAME ROLES sha256:HASH|certificate:NAME [EXPIRY]`")
    name, allowed, identity = words[:3]
    if not _NAME.fullmatch(name):
        raise ValueError("the name is not 1 to 64 letters, digits, `.`, `_`, `@` and `-`")
    kind, _, value = identity.partition(":")
    if not value or kind not in ("sha256", "certificate") or (kind == "sha256" and not _HASH.fullmatch(value)):
        raise ValueError(
            "the third word is neither `sha256:` with 64 hexadecimal digits nor `certificate:` with a name"
        )
    return Entry(
        name=name,
        roles=roles.parse(allowed),
        token_sha256=value if kind == "sha256" else "",
        certificate=value if kind == "certificate" else "",
        expires=moment(words[3]) if len(words) == 4 else None,
    )


def moment(text: str) -> datetime.datetime:
    """A time as ISO 8601 with its zone; raises ValueError."""
    try:
        time = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is no time such as 2027-01-31T00:00:00Z") from None
    if time.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone; write Z for UTC")
    return time.astimezone(datetime.UTC)


def check(token: str, source: str) -> str:
    """Returns a token that may be sent; raises ConfigError for one that no header can hold."""
    if not _TOKEN.fullmatch(token):
        raise ConfigError(f"failed to use {source}: it holds no token of 1 to 512 printable characters without blanks")
    return token


def _hash_of(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
