"""The state folder of `kernelvault up`: which processes run, their logs, secrets and data, and the journals of runs."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from kernelvault import addresses
from orchestrator import processes
from orchestrator.mistake import Mistake


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
    """A process that was started."""

    pid: int
    identity: str
    address: str
    metrics: str = ""
    # Of the command line and the environment: a process with another one is restarted.
    fingerprint: str = ""

    @property
    def alive(self) -> bool:
        """Whether it is still this process that has the pid."""
        return bool(self.identity) and processes.identity(self.pid) == self.identity


class State:
    """Paths and files below one folder, which only its owner can read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def open(cls) -> Self:
        """The folder that the environment names, made where it is missing; raises Mistake if it cannot be."""
        folder = addresses.state_folder()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise Mistake(f"failed to make the state folder: {error}; set KERNELVAULT_STATE to another one") from error
        return cls(folder)

    def path(self, *parts: str) -> Path:
        """A path in the folder; its parent is made."""
        path = self.folder.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Excludes another `up` or `down`; raises Mistake while one runs."""
        with self.path("lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Mistake("another `kernelvault up` or `down` is running: wait for it to end") from None
            yield

    def records(self) -> dict[str, Record]:
        """The processes that were started, by service."""
        try:
            read = json.loads(self.path("services.json").read_text(encoding="utf-8"))
            return {name: Record(**fields) for name, fields in read.items()}
        except FileNotFoundError:
            return {}
        except (ValueError, TypeError) as error:
            where = self.path("services.json")
            raise Mistake(f"failed to read {where}: {error}; stop the services by hand and remove it") from error

    def write_records(self, records: dict[str, Record]) -> None:
        """Replaces the records as a whole."""
        text = json.dumps({name: dataclasses.asdict(record) for name, record in records.items()}, indent=2)
        write_whole(self.path("services.json"), text)

    def secret_file(self, name: str) -> Path:
        """A file with a random secret of this folder, the same at each call."""
        path = self.path("secrets", name)
        if not path.exists():
            write_whole(path, secrets.token_hex(24))
        return path


def write_whole(path: Path, text: str) -> None:
    """Writes a file that only its owner reads, so that a reader sees the old or the new text."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
