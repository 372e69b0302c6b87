"""Pieces of Markdown."""

from __future__ import annotations

import re

from kernelvault.v1.artifact_pb2 import Artifact

_CUT = "\n[cut off here]"


_TAGS = {"py": "python", "txt": "text"}


def file(source: Artifact) -> str:
    """A source as a fenced block of its language."""
    return fence(source.contents.decode(errors="replace"), _TAGS.get(source.path.rpartition(".")[2], "cpp"))


def fence(text: str, tag: str) -> str:
    """A fenced block that `text` cannot close."""
    longest = max(map(len, re.findall(r"`{3,}", text)), default=2)
    mark = "`" * (longest + 1)
    return f"{mark}{tag}\n{text.rstrip()}\n{mark}"


def quote(text: str) -> str:
    """A block quotation: headings and fences in `text` stay inside it."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())


def section(title: str, text: str) -> str:
    """A titled part."""
    return f"## {title}\n\n{text.strip()}"


def clip(text: str, most: int) -> str:
    """At most `most` characters, with a mark where something is missing."""
    return text if len(text) <= most else text[: max(0, most - len(_CUT))] + _CUT
