"""A bounded folder of results, named by what they depend on; several processes may share it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from kernelvault import seal

# A result that was used this lately is not evicted: its files may be about to be opened.
_RECENT_SECONDS = 900.0
# Above twice the bound the disk counts more: what was used this lately is only spared.
_JUST_NOW_SECONDS = 60.0
# How long the size of all entries is known from the last look at them: other processes add, too.
_LOOK_SECONDS = 60.0


class ResultCache:
    """Entries are folders of files, put in place by a rename: an entry is whole or not there."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._entries = folder / "entries"
        self._jobs = folder / "jobs"
        self._max_bytes = max_bytes
        # Of all entries at the last look, and of those that were added here since.
        self._held_bytes = 0
        self._looked: float | None = None
        self._make_folders()
        self._remove_stale_jobs()

    def find(self, key: str) -> Path | None:
        """The entry's folder, and marks it as used; a damaged entry goes."""
        entry = self._entries / key
        if not seal.all_hold(entry):
            shutil.rmtree(entry, ignore_errors=True)
            return None
        with contextlib.suppress(FileNotFoundError):
            os.utime(entry)
        return entry

    def add(self, key: str, files: Iterable[tuple[str, Path]]) -> Path:
        """Moves files (of this file system) into a new entry and evicts the least recently used ones."""
        entry = self._entries / key
        self._make_folders()
        fresh = Path(tempfile.mkdtemp(dir=self._jobs))
        for name, path in files:
            seal.put(path, fresh / name)
        self._held_bytes += _size(fresh)
        try:
            fresh.rename(entry)
        except OSError:  # another process was quicker; results are equal
            shutil.rmtree(fresh, ignore_errors=True)
        if self._held_bytes > self._max_bytes or self._looked is None or time.time() - self._looked > _LOOK_SECONDS:
            self._evict()
        return entry

    @contextlib.contextmanager
    def job_folder(self) -> Iterator[Path]:
        """An empty folder on the same file system, removed afterwards."""
        self._make_folders()
        folder = Path(tempfile.mkdtemp(dir=self._jobs))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _make_folders(self) -> None:
        """A cache may be removed at any time, also while it is used."""
        for path in (self._entries, self._jobs):
            path.mkdir(parents=True, exist_ok=True, mode=0o700)

    def _evict(self) -> None:
        found = sorted((entry.stat().st_mtime, _size(entry), entry) for entry in self._entries.iterdir())
        self._looked = time.time()
        self._held_bytes = sum(size for _, size, _ in found)
        for used, size, entry in found:
            spared_seconds = _RECENT_SECONDS if self._held_bytes <= 2 * self._max_bytes else _JUST_NOW_SECONDS
            if self._held_bytes <= self._max_bytes or time.time() - used < spared_seconds:
                return
            shutil.rmtree(entry, ignore_errors=True)
            self._held_bytes -= size

    def _remove_stale_jobs(self) -> None:
        for path in self._jobs.iterdir():
            with contextlib.suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > 3600:
                    shutil.rmtree(path, ignore_errors=True)


def _size(entry: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return sum(file.stat().st_size for file in entry.iterdir() if file.suffix != seal.SUFFIX)
    return 0
