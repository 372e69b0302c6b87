"""Files of a cache that are what was put there: a full disk, a lost power supply or a clean-up leaves others.

A damaged header or a damaged expected value would be blamed on a candidate. So each file has a seal beside it: its size
and a digest, checked again whenever its inode, size or time of change differ from what was checked before. Of a large
file the digest is of pieces spread over it: what these accidents leave is cut short or empty in long stretches, and
reading all of it would cost more than the file saves.
"""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path

SUFFIX = ".seal"
_PIECE_BYTES = 64 << 10
_PIECES = 16
_MEMORY = 4096


def put(made: Path, place: Path) -> None:
    """Moves a file (of the same file system) to its place, sealed; a reader sees it whole or not at all."""
    seal(made, place)
    os.replace(made, place)


def seal(made: Path, place: Path | None = None) -> None:
    """Writes the seal of a file, which is to stand at `place`."""
    place = place or made
    temporary = made.with_name(made.name + SUFFIX + ".new")
    temporary.write_text(_mark(made), encoding="ascii")
    os.replace(temporary, place.with_name(place.name + SUFFIX))


def holds(place: Path) -> bool:
    """Whether a sealed file is there and is what was sealed."""
    try:
        return place.with_name(place.name + SUFFIX).read_bytes() == _mark(place).encode()
    except OSError:
        return False


def all_hold(folder: Path) -> bool:
    """Whether the folder has sealed files, and all of them hold."""
    try:
        sealed = [path.with_suffix("") for path in folder.iterdir() if path.suffix == SUFFIX]
    except OSError:
        return False
    return bool(sealed) and all(holds(path) for path in sealed)


def _mark(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size} {_digest(path, status.st_ino, status.st_size, status.st_mtime_ns)}"


@functools.lru_cache(_MEMORY)
def _digest(path: Path, inode: int, size_bytes: int, changed_ns: int) -> str:
    found = hashlib.sha256()
    last = size_bytes - _PIECE_BYTES
    with path.open("rb") as file:
        if size_bytes <= _PIECES * _PIECE_BYTES:
            found.update(file.read())
        else:
            for piece in range(_PIECES):
                file.seek(last * piece // (_PIECES - 1))
                found.update(file.read(_PIECE_BYTES))
    return found.hexdigest()
