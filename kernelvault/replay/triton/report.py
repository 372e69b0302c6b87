"""What an interpreted replay found and counted, as its process tells it.

The records are written by a process that runs foreign code: JSON after a header that is kept up to date, numbers and
short texts only. All that is said about them is said in `wording.py`. A report that is not whole is no report.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from google.protobuf.message import DecodeError

from kernelvault.v1 import compiler_pb2, profiler_pb2

Kind = compiler_pb2.Finding.Kind

# Statuses.
RUNNING, FINISHED, STOPPED, ASSERTED, UNSUPPORTED, TOO_MUCH = range(6)
# Status, the operation that was last begun, the length of the JSON.
HEADER = struct.Struct("<III")
REPORT_BYTES = 8 << 20
MAX_FINDINGS, MAX_COUNTERS, MAX_TEXT = 64, 16384, 400
_MAX_NUMBER = (1 << 63) - 1
_NUMBERS = (
    "kind",
    "operation",
    "line",
    "buffer",
    "access",
    "count",
    "lanes",
    "width",
    "offset",
    "other",
    "other_access",
)
ACCESSES = ("reads", "writes", "changes")


@dataclass(frozen=True, kw_only=True)
class RawFinding:
    """A finding in numbers; of lanes and elements as far as the kind has them."""

    kind: int
    operation: int
    program: tuple[int, int, int]
    # Of the author's code.
    file: str
    line: int
    # -1: an address near no buffer.
    buffer: int
    # An index of ACCESSES.
    access: int
    # Lanes that are at fault, and lanes of the access.
    count: int
    lanes: int
    # Of an element; in bytes from the buffer's start (or the address where there is none).
    width: int
    offset: int
    # The number of the other program, -1 if it is the same.
    other: int = -1
    # An index of ACCESSES: what the other did.
    other_access: int = 0


@dataclass
class Report:
    """All of a child's report."""

    status: int = RUNNING
    # That was last begun.
    operation: int = 0
    # Why the kernel ended early, and where.
    text: str = ""
    file: str = ""
    line: int = 0
    findings: list[RawFinding] = field(default_factory=list)
    # By operation.
    counters: dict[int, profiler_pb2.Profile.Counters] = field(default_factory=dict)
    # Buffers that hold what a launch wrote.
    launched: set[int] = field(default_factory=set)

    def pack(self) -> bytes:
        """The bytes of it, without the header."""
        body = {
            "text": self.text[:MAX_TEXT],
            "file": self.file[:MAX_TEXT],
            "line": self.line,
            "findings": [asdict(finding) for finding in self.findings[:MAX_FINDINGS]],
            "counters": {str(i): counter.SerializeToString().hex() for i, counter in self.counters.items()},
            "launched": sorted(self.launched),
        }
        return json.dumps(body, separators=(",", ":")).encode()


def read(data: bytes | memoryview) -> Report:
    """Reads a report. What is not as it should be is left out."""
    status, operation, length = HEADER.unpack_from(data)
    report = Report(status=status, operation=operation)
    try:
        body = json.loads(bytes(data[HEADER.size : HEADER.size + min(length, len(data) - HEADER.size)]) or b"{}")
        _fill(report, body)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, DecodeError):
        return Report(status=status, operation=operation)
    return report


def _fill(report: Report, body: Mapping[str, Any]) -> None:
    report.text, report.file, report.line = _text(body["text"]), _text(body["file"]), _number(body["line"])
    report.findings = [_finding(entry) for entry in body["findings"][:MAX_FINDINGS]]
    report.launched = {_number(buffer) for buffer in body["launched"][:MAX_COUNTERS]}
    for key, packed in list(body["counters"].items())[:MAX_COUNTERS]:
        report.counters[int(key[:9])] = profiler_pb2.Profile.Counters.FromString(bytes.fromhex(packed[:1000]))


def _finding(entry: Mapping[str, Any]) -> RawFinding:
    x, y, z = (_number(side) for side in entry["program"])
    numbers = {name: _number(entry[name]) for name in _NUMBERS}
    known = numbers["kind"] in Kind.values() and numbers["kind"] != 0
    bounded = all(0 <= numbers[name] < len(ACCESSES) for name in ("access", "other_access"))
    if not (known and bounded and numbers["width"] in (1, 2, 4, 8)):
        raise ValueError("no finding")
    return RawFinding(program=(x, y, z), file=_text(entry["file"]), **numbers)


def _number(value: Any) -> int:
    if type(value) is not int or abs(value) > _MAX_NUMBER:
        raise ValueError("no number")
    return value


def _text(value: Any) -> str:
    """Printable, on one line, bounded."""
    if not isinstance(value, str):
        raise ValueError("no text")
    line = " ".join(value[:MAX_TEXT].split())
    return "".join(character for character in line if character.isprintable())
