"""The files that `filename` of an evaluation names, below one folder."""

from __future__ import annotations

from pathlib import Path

from kernelvault import digest
from kernelvault.v1 import artifact_pb2
from orchestrator.gateway.fields import malformed

_BASELINES = (".baseline.py", ".baseline.hip")


def find(root: Path, filename: str) -> tuple[Path, bytes]:
    """A module's path and contents; raises Malformed for one that is not below `root`, or is not there."""
    try:
        folder = root.resolve(strict=True)
        path = (folder / filename).resolve(strict=True)
        inside = path.is_relative_to(folder) and path.suffix == ".py" and path.is_file()
    except (OSError, ValueError, RuntimeError):
        inside = False
    if not inside:
        raise malformed(["filename"], f"{filename[:200]!r} is no Python file below the folder of references")
    contents = path.read_bytes()
    if not 0 < len(contents) <= digest.INLINE_LIMIT_BYTES:
        raise malformed(["filename"], f"{filename[:200]!r} has {len(contents)} bytes; 1 to 1 MiB are read")
    return path, contents


def baseline(path: Path) -> artifact_pb2.Artifact | None:
    """The kernel beside a module that others are compared with: `softmax.baseline.py` or `.hip` for `softmax.py`."""
    for suffix in _BASELINES:
        beside = path.with_suffix(suffix)
        if beside.is_file():
            return digest.artifact(f"kernel{beside.suffix}", beside.read_bytes())
    return None
