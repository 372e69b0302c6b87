"""`kernelvault token`."""

from __future__ import annotations

import datetime
import json
import subprocess
from pathlib import Path

import pytest

from kernelvault.access import tokens
from tests.cluster import COMMAND


def token(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Runs `kernelvault token ...`."""
    command = [COMMAND, "token", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


def test_a_token_is_made_and_recognised(tmp_path: Path) -> None:
    """`create` prints the token once and adds its line; `check` says whose it is."""
    file, held = tmp_path / "tokens", tmp_path / "held"
    made = token(
        "create", "--name", "ci", "--role", "submit", "--role", "train", "--expires", "90d", "--append", file, "--json"
    )
    created = json.loads(made.stdout)
    held.write_text(created["token"])

    found = json.loads(token("check", file, "--token-file", held, "--json").stdout)

    assert file.read_text() == created["line"] + "\n"
    assert file.stat().st_mode & 0o777 == 0o600
    [entry] = tokens.parse(file.read_bytes(), "").entries
    assert entry.expires is not None
    assert datetime.timedelta(days=89) < entry.expires - datetime.datetime.now(datetime.UTC) < datetime.timedelta(90)
    assert found == [
        {
            "name": "ci",
            "roles": ["submit", "train"],
            "known_by": "token",
            "expires": entry.expires.isoformat(),
            "state": "valid",
        }
    ]


def test_lines_are_added_to_lines(tmp_path: Path) -> None:
    """Even where the last one has no end."""
    file = tmp_path / "tokens"
    file.write_text("# people")
    for name in ("alice", "bob"):
        assert token("create", "--name", name, "--role", "read", "--append", file).returncode == 0

    assert [entry.name for entry in tokens.parse(file.read_bytes(), "").entries] == ["alice", "bob"]


def test_a_stranger_is_told_apart(tmp_path: Path) -> None:
    """Exit code 1 for a token that is not in the file; it may come by stdin."""
    file = tmp_path / "tokens"
    token("create", "--name", "alice", "--role", "read", "--append", file)

    checked = token("check", file, "--token-file", "-", stdin="kv_other\n")

    assert (checked.returncode, checked.stderr) == (1, "the token is not in the file\n")


def test_who_is_in_the_file_is_listed(tmp_path: Path) -> None:
    """Without hashes, with what has expired."""
    file = tmp_path / "tokens"
    file.write_text(
        f"alice read sha256:{'a' * 64} 2020-01-01T00:00:00Z\nworker service certificate:compiler.svc  # mTLS\n"
    )

    listed = json.loads(token("check", file, "--json").stdout)

    assert [(row["name"], row["known_by"], row["state"]) for row in listed] == [
        ("alice", "token", "expired"),
        ("worker", "certificate compiler.svc", "valid"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["create", "--name", "a b", "--role", "read"], "failed to make a token: 'a b' is not 1 to 64 letters"),
        (["create", "--name", "a", "--role", "root"], "failed to make a token: 'root' is no role; there are read,"),
        (["create", "--name", "a", "--role", "read", "--expires", "soon"], "'soon' is no time such as"),
        (["create", "--name", "a", "--role", "read", "--expires", "0d"], "'0d' is not in the future"),
        (["create", "--name", "a", "--role", "read", "--append", "/no/where"], "failed to add the line to '/no/where'"),
        (["check", "/no/where"], "failed to read the tokens file='/no/where': No such file or directory"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], message: str) -> None:
    """What is wrong and what to do, with exit code 2."""
    ended = token(*arguments)

    assert ended.returncode == 2
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr
