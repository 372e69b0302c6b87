"""Folders for work in progress that do not outlive their service, even one that was killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

# A folder may be this old before its owner has locked it.
_YOUNG_SECONDS = 60.0


@contextlib.contextmanager
def own_folder(shared: Path) -> Iterator[Path]:
    """A folder below `shared` for this process, which is removed at the end.

    Those of processes that ended without removing theirs are removed now: their locks went with them. `shared` exists
    and holds nothing else.
    """
    for folder in shared.iterdir():
        _remove_abandoned(folder)
    own = Path(tempfile.mkdtemp(dir=shared, prefix="service-"))
    try:
        with _lock(own):
            yield own
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _remove_abandoned(folder: Path) -> None:
    with contextlib.suppress(OSError):  # in use, or removed by another who starts
        if time.time() - folder.stat().st_mtime > _YOUNG_SECONDS:
            with _lock(folder):
                shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Raises BlockingIOError where another process holds it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
