"""Finds references: files, folders in KernelBench's layout, tasks of the starter suite."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Iterable
from pathlib import Path

from kernelvault import digest
from kernelvault.v1.kernel_pb2 import Task
from orchestrator import suite
from orchestrator.mistake import Mistake

_MODEL = re.compile(rb"^class\s+Model\b", re.MULTILINE)


def read(path: Path) -> Task:
    """The task that a reference file makes, without its cases.

    Raises Mistake if the file cannot be used, InvalidArgument if it is not Python.
    """
    read_source(path)
    return suite.read(path)


def read_source(path: Path) -> bytes:
    """The bytes of a source file; raises Mistake if there is none, or it is empty or above 1 MiB."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "there is no such file"
        raise Mistake(f"failed to read {str(path)!r}: {what}")
    size, limit = path.stat().st_size, digest.INLINE_LIMIT_BYTES
    if size > limit:
        raise Mistake(f"failed to read {str(path)!r}: {size} bytes are above the limit of {limit}; give a smaller file")
    if not size:
        raise Mistake(f"failed to read {str(path)!r}: it is empty")
    return path.read_bytes()


def find(name: str) -> Path:
    """The reference that a user means by a path or by the title of a suite's task; raises Mistake if there is none."""
    path = Path(name)
    if path.suffix == ".py" or path.exists():
        return path
    known = {suite.title(path): path for path in suite.tasks()}
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, 3)
    hint = (
        f"; did you mean {' or '.join(close)}?" if close else "; give the path of a reference, or a task of the suite"
    )
    raise Mistake(f"failed to find the task {name!r}{hint}")


def collect(paths: Iterable[Path]) -> list[Path]:
    """The references below `paths`, each a file or a folder such as KernelBench's; raises Mistake if there are none."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            below = [file for file in sorted(path.rglob("*.py")) if _is_reference(file)]
            if not below:
                raise Mistake(f"failed to find references below {str(path)!r}: no .py file there defines `class Model`")
            found += below
        else:
            found.append(find(str(path)))
    return list(dict.fromkeys(path.absolute() for path in found))


def select(tasks: Iterable[Task], *, titles: str, level: int) -> list[Task]:
    """Those tasks whose title matches one of the comma-separated patterns and whose level is `level` (0: any)."""
    patterns = [pattern.strip() for pattern in titles.split(",") if pattern.strip()] or ["*"]
    given = list(tasks)
    chosen = [
        task
        for task in given
        if any(fnmatch.fnmatchcase(task.title, pattern) for pattern in patterns) and level in (0, task.level)
    ]
    if not chosen:
        raise Mistake(f"no task matches --tasks {titles!r} --level {level} among {len(given)}; `*` matches anything")
    return chosen


def _is_reference(path: Path) -> bool:
    if path.name.startswith("_") or any(part.startswith(".") for part in path.parts[-3:]):
        return False
    return path.stat().st_size <= digest.INLINE_LIMIT_BYTES and bool(_MODEL.search(path.read_bytes()))
