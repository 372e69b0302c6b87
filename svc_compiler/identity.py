"""Which code judges: a digest of the sources that a report depends on, so that a change of ours disowns old results."""

from __future__ import annotations

from pathlib import Path

from kernelvault import digest

_ROOT = Path(__file__).parents[1]
_FOLDERS = ("kernelvault/replay", "kernelvault/sandbox", "svc_compiler")
_SUFFIXES = frozenset({".py", ".cpp", ".h"})


def of_sources() -> str:
    """The hexadecimal SHA-256 of the verifier's own source files and their paths."""
    fields: list[str | bytes] = []
    for folder in _FOLDERS:
        for path in sorted((_ROOT / folder).rglob("*")):
            if path.suffix in _SUFFIXES:
                fields += [str(path.relative_to(_ROOT)), path.read_bytes()]
    return digest.of_fields(fields)
