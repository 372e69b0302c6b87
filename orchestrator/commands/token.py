"""`token create` and `token check`."""

from __future__ import annotations

import datetime
import os
import re
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from kernelvault.access import files, roles, tokens
from orchestrator.commands import output
from orchestrator.mistake import Mistake

_UNITS = {"d": "days", "h": "hours", "m": "minutes"}
_UNKNOWN = 1


def create(name: str, role: str, *, expires: str, append: Path | None, as_json: bool) -> None:
    """Prints a new token and its line; raises Mistake for a name, a role or a time that is none."""
    try:
        token, entry = tokens.create(name, roles.parse(role), _expiry(expires) if expires else None)
    except ValueError as error:
        raise Mistake(f"failed to make a token: {error}") from None
    if append:
        _append(append, entry.line())
    if as_json:
        output.print_json({"token": token, "line": entry.line()})
        return
    print(f"token  {token}")
    print(f"line   {entry.line()}")
    kept = f"is in {str(append)!r}" if append else "belongs into the servers' KERNELVAULT_TOKENS_FILE"
    print(f"The token is shown this once; give it to its owner. The line {kept}.", file=sys.stderr)


def check(path: Path, presented: Path | None, *, as_json: bool) -> int:
    """Lists a tokens file, or the entry of a token; 1 where the token is in none or has expired, else 0."""
    known = tokens.parse(files.read("the tokens file", path), str(path))
    if presented is None:
        _show(list(known.entries), as_json=as_json)
        return 0
    text = sys.stdin.read() if str(presented) == "-" else files.read("the token", presented).decode("utf-8", "replace")
    entry = known.by_token(tokens.check(text.strip(), "the token"))
    if entry is None:
        print("the token is not in the file", file=sys.stderr)
        return _UNKNOWN
    _show([entry], as_json=as_json)
    return _UNKNOWN if entry.expired(datetime.datetime.now(datetime.UTC)) else 0


def _show(entries: list[tokens.Entry], *, as_json: bool) -> None:
    rows = [_row(entry) for entry in entries]
    if as_json:
        output.print_json(rows)
        return
    table = Table("name", "roles", "known by", "expires", "state")
    for row in rows:
        colour = "red" if row["state"] == "expired" else "green"
        table.add_row(
            row["name"], ", ".join(row["roles"]), row["known_by"], row["expires"], f"[{colour}]{row['state']}[/]"
        )
    Console().print(table)


def _row(entry: tokens.Entry) -> dict[str, Any]:
    expired = entry.expired(datetime.datetime.now(datetime.UTC))
    return {
        "name": entry.name,
        "roles": roles.names(entry.roles),
        "known_by": f"certificate {entry.certificate}" if entry.certificate else "token",
        "expires": entry.expires.isoformat() if entry.expires else "never",
        "state": "expired" if expired else "valid",
    }


def _expiry(text: str) -> datetime.datetime:
    """When a token ends: in `90d`, `12h` or `30m`, or at a time; raises ValueError."""
    span = re.fullmatch(r"(\d{1,6})([dhm])", text)
    now = datetime.datetime.now(datetime.UTC)
    until = now + datetime.timedelta(**{_UNITS[span[2]]: int(span[1])}) if span else tokens.moment(text)
    if until <= now:
        raise ValueError(f"{text!r} is not in the future")
    return until


def _append(path: Path, line: str) -> None:
    """Adds a line by one write, so that a server never reads half of it; the file is its owner's alone."""
    try:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(file).st_size
            whole = size == 0 or os.pread(file, 1, size - 1) == b"\n"
            os.write(file, ("" if whole else "\n").encode() + line.encode() + b"\n")
        finally:
            os.close(file)
    except OSError as error:
        raise Mistake(f"failed to add the line to {str(path)!r}: {error.strerror}") from error
