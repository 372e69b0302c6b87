"""What clang and lld said, as bounded messages that a model can act on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from kernelvault.v1 import compiler_pb2
from svc_compiler.hip import pasted

Diagnostic = compiler_pb2.Diagnostic
MAX_DIAGNOSTICS = 40
MAX_MESSAGE_CHARS = 600
# A failed overload resolution lists dozens of candidates; the first ones tell enough.
MAX_NOTES = 3
_START = '{"$schema"'
_LEVELS = {"error": Diagnostic.ERROR, "warning": Diagnostic.WARNING, "note": Diagnostic.NOTE, "none": Diagnostic.NOTE}
# Lines outside SARIF: the linker's, the driver's, the code generator's. Their prefix names a tool or a file.
_LINE = re.compile(r"^(?:\S+: )?(?:(fatal error|error|warning): |(LLVM ERROR): )(.+)$")
_REFERENCE = re.compile(r"^>>> referenced by (.+)$")
_CONSEQUENCE = re.compile(r"command failed (?:with|due to)|unable to execute command|errors? generated")
_TEMPORARY_OBJECT = re.compile(r"\S+-\w+-[0-9a-f]{6}\.o:\((.*)\)$")


def parse(text: str, sources: Path) -> list[compiler_pb2.Diagnostic]:
    """The diagnostics in a compiler's stderr with `-fdiagnostics-format=sarif`: at most MAX_DIAGNOSTICS, errors first.

    Files below `sources` are named relative to it, headers by their path below the last `include` folder.
    """
    reports, rest = _split(text)
    found = [d for report in reports for d in _of_report(report, sources)]
    found += _of_lines(rest.splitlines())
    if any(d.level == Diagnostic.ERROR and not _CONSEQUENCE.search(d.message) for d in found):
        found = [d for d in found if not _CONSEQUENCE.search(d.message)]
    return _bounded(found)


def _split(text: str) -> tuple[list[dict[str, Any]], str]:
    """The SARIF documents in `text`, and everything between them. A document that was cut off is dropped."""
    reports: list[dict[str, Any]] = []
    rest, decoder = "", json.JSONDecoder()
    while (start := text.find(_START)) >= 0:
        rest += text[:start]
        try:
            report, length = decoder.raw_decode(text[start:])
        except ValueError:
            return reports, f"{rest}\nerror: the compiler printed too much; only the start of it is kept"
        reports.append(report)
        text = text[start + length :]
    return reports, rest + text


def _of_report(report: dict[str, Any], sources: Path) -> Iterator[compiler_pb2.Diagnostic]:
    for run in report.get("runs", ()):
        for result in run.get("results", ()):
            diagnostic = Diagnostic(
                level=_LEVELS.get(result.get("level", ""), Diagnostic.NOTE),
                message=result.get("message", {}).get("text", "")[:MAX_MESSAGE_CHARS],
            )
            places = result.get("locations") or ()
            if places:
                place = places[0].get("physicalLocation", {})
                diagnostic.file = _name(place.get("artifactLocation", {}).get("uri", ""), sources)
                diagnostic.line = place.get("region", {}).get("startLine", 0)
                diagnostic.column = place.get("region", {}).get("startColumn", 0)
            yield diagnostic


def _name(uri: str, sources: Path) -> str:
    path = unquote(urlparse(uri).path)
    prefix = f"{sources}/"
    if path.startswith(prefix):
        return pasted.origin(path[len(prefix) :])
    return path.rpartition("/include/")[2] or path


def _of_lines(lines: list[str]) -> Iterator[compiler_pb2.Diagnostic]:
    last: compiler_pb2.Diagnostic | None = None
    for line in lines:
        if match := _LINE.match(line.strip()):
            if last is not None:
                yield last
            level = Diagnostic.WARNING if match[1] == "warning" else Diagnostic.ERROR
            last = Diagnostic(level=level, message=match[3][:MAX_MESSAGE_CHARS])
        elif last is not None and last.message.count(" (referenced by") == 0 and (match := _REFERENCE.match(line)):
            last.message += f" (referenced by {_referrer(match[1])})"
    if last is not None:
        yield last


def _referrer(text: str) -> str:
    """The function alone: a temporary object's name means nothing to the reader."""
    match = _TEMPORARY_OBJECT.match(text)
    return match[1] if match else text


def _bounded(found: list[compiler_pb2.Diagnostic]) -> list[compiler_pb2.Diagnostic]:
    kept: list[compiler_pb2.Diagnostic] = []
    seen, notes, dropped = set(), 0, False
    for diagnostic in found:
        if diagnostic.level == Diagnostic.NOTE:
            notes += 1
            if dropped or notes > MAX_NOTES:
                continue
        else:
            key = diagnostic.SerializeToString(deterministic=True)
            notes, dropped = 0, key in seen
            if dropped:
                continue
            seen.add(key)
        kept.append(diagnostic)
    if len(kept) > MAX_DIAGNOSTICS:
        # Warnings and their notes go first.
        worst = [d for d in kept if d.level == Diagnostic.ERROR] + [d for d in kept if d.level != Diagnostic.ERROR]
        kept = worst[:MAX_DIAGNOSTICS]
    return kept
