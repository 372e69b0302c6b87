"""What a capture leaves: a header in JSON, the plans of its calls, the program. Written by the capturing process.

Layout: the magic, five lengths as little-endian u32 (header, program, and the calls: before the first, first, second),
then these parts. The reader believes nothing: a candidate shared the process that wrote it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from google.protobuf.message import DecodeError

from kernelvault.replay.triton import program as programs
from kernelvault.v1 import plan_pb2, triton_pb2

MAGIC = b"KVTC"
# Stands there from before the candidate is loaded until the trace does.
BEGUN = b"KVTB"
TRACE_BYTES = 8 << 20
# Python takes twenty times as much for a header of empty lists.
MAX_HEADER_BYTES = 1 << 20
MAX_FOREIGN = 256
CALLS = 2
MAX_EXTENSIONS = 16
# Of one extension.
MAX_FILES = 32
MAX_BUFFERS = 4096
_MAX_TEXT = 4000
_MAX_LIST = 20_000
_PREFIX = struct.Struct("<4s5I")
_T = TypeVar("_T")


class Malformed(ValueError):
    """The bytes are no trace of a capture."""


@dataclass(frozen=True)
class Fault:
    """How the candidate ended, if not by returning: a kind, and where in its sources."""

    kind: str
    message: str
    file: str
    line: int


@dataclass(frozen=True)
class Buffer:
    """A storage on the device; if it was given, the memory of the case's parameter at `position`."""

    size: int
    given: bool
    position: int
    name: str


@dataclass(frozen=True)
class Read:
    """Values that host code wanted, after so many operations of its call."""

    position: int
    what: str
    answered: bool


@dataclass(frozen=True)
class Foreign:
    """An operator of torch that ran on device data."""

    name: str
    operator: str
    place: str


@dataclass(frozen=True)
class Extension:
    """What host code asked to be compiled. `functions` are those to export, with their documentation."""

    name: str
    # Path below the candidate's sources, or "" for text that is no file of theirs; text; what it is called.
    sources: list[tuple[str, str, str]]
    functions: dict[str, str] | None
    defines: list[str]
    # `file:line` of the call, or "".
    place: str


@dataclass(frozen=True)
class Call:
    """What a call did; the first one of a trace is what happened before any."""

    first_buffer: int
    plan: plan_pb2.LaunchPlan
    reads: list[Read]
    read_sources: list[plan_pb2.Result]
    other_results: list[str]
    returned_sequence: bool


@dataclass(frozen=True)
class Trace:
    """One run of the candidate."""

    buffers: list[Buffer]
    calls: list[Call]
    foreign: list[Foreign]
    limitations: list[str]
    notes: list[str]
    properties: dict[str, int]
    fault: Fault | None
    program: triton_pb2.TritonProgram
    # Of a module with extensions: where each buffer lies, what it loaded, and how many calls of it were recorded.
    # Launches stand for these calls.
    addresses: list[int]
    extensions: list[Extension]
    extension_calls: int
    # The candidate was loaded, and came to its end, whatever that was.
    begun: bool
    ended: bool

    @property
    def unanswered(self) -> bool:
        """The run stopped at a read that has no answer."""
        return bool(self.calls and self.calls[-1].reads and not self.calls[-1].reads[-1].answered)


def pack(header: dict[str, Any], program: bytes, calls: list[bytes]) -> bytes:
    """The trace's bytes."""
    parts = [json.dumps(header).encode(), program, *calls, *[b""] * (CALLS + 1 - len(calls))]
    return _PREFIX.pack(MAGIC, *map(len, parts)) + b"".join(parts)


def read(buffer: memoryview) -> Trace:
    """The trace in a memory file; raises Malformed, and what `program.read` does."""
    magic, *lengths = _PREFIX.unpack_from(buffer)
    if magic in (b"\0" * 4, BEGUN):
        return Trace(
            [], [], [], [], [], {}, None, triton_pb2.TritonProgram(), [], [], 0, begun=magic == BEGUN, ended=False
        )
    if magic != MAGIC or sum(lengths) > len(buffer) - _PREFIX.size or lengths[0] > MAX_HEADER_BYTES:
        raise Malformed("the header is not ours")
    parts, position = [], _PREFIX.size
    for length in lengths:
        parts.append(bytes(buffer[position : position + length]))
        position += length
    try:
        header = json.loads(parts[0])
        return _read(header, programs.read(parts[1]), parts[2:])
    except (LookupError, TypeError, ValueError, RecursionError, DecodeError) as error:
        if isinstance(error, programs.Malformed):
            raise
        raise Malformed(f"{type(error).__name__}: {str(error)[:200]}") from error


def _read(header: dict[str, Any], program: triton_pb2.TritonProgram, encoded: list[bytes]) -> Trace:
    buffers = [
        Buffer(_natural(size), bool(given), _natural(position), _text(name))
        for size, given, position, name in _list(header["buffers"], MAX_BUFFERS)
    ]
    calls = [_call(one, data) for one, data in zip(_list(header["calls"], CALLS + 1), encoded, strict=False)]
    foreign = [Foreign(*map(_text, one)) for one in _list(header["foreign"], MAX_FOREIGN)]
    fault = header["fault"]
    trace = Trace(
        buffers=buffers,
        calls=calls,
        foreign=foreign,
        limitations=[_text(one) for one in _list(header["limitations"])],
        notes=[_text(one) for one in _list(header["notes"])],
        properties={_text(name): _integer(value) for name, value in dict(header["properties"]).items()},
        fault=fault and Fault(_text(fault[0]), _text(fault[1]), _text(fault[2]), _natural(fault[3])),
        program=program,
        addresses=[_natural(one) for one in _list(header.get("addresses", []), MAX_BUFFERS)],
        extensions=[_extension(one) for one in _list(header.get("extensions", []), MAX_EXTENSIONS)],
        extension_calls=_natural(header.get("extension_calls", 0)),
        begun=True,
        ended=True,
    )
    for call in calls:
        _check(call, trace)
    return trace


def _extension(described: dict[str, Any]) -> Extension:
    functions = described["functions"]
    return Extension(
        name=_text(described["name"]),
        sources=[
            (_text(path), _checked(text, str), _text(name))
            for path, text, name in _list(described["sources"], MAX_FILES)
        ],
        functions=None if functions is None else {_text(name): _text(says) for name, says in dict(functions).items()},
        defines=[_text(one) for one in _list(described["defines"])],
        place=_text(described["place"]),
    )


def _call(described: dict[str, Any], data: bytes) -> Call:
    plan = plan_pb2.LaunchPlan.FromString(data)
    reads = [
        Read(_natural(position), _text(what), bool(answered)) for position, what, answered in _list(described["reads"])
    ]
    if len(reads) > len(plan.results):
        raise Malformed("reads without sources")
    # Results of a call's plan: what was read, then what was returned.
    sources = [plan.results.pop(0) for _ in reads]
    return Call(
        _natural(described["first_buffer"]),
        plan,
        reads,
        sources,
        [_text(one) for one in _list(described["other_results"])],
        bool(described["returned_sequence"]),
    )


def _check(call: Call, trace: Trace) -> None:
    """Numbers of buffers and kernels are in range; the reader of plans checks the rest."""
    operations = call.plan.operations
    if any(one.position > len(operations) for one in call.reads):
        raise Malformed("a read after the end")
    launches = [one.launch for one in operations if one.HasField("launch")]
    kernels = [one.kernel for launch in launches for one in (launch, *launch.alternatives)]
    known = trace.extension_calls or len(trace.program.variants)
    if any(not 0 <= kernel < known for kernel in kernels):
        raise Malformed("a launch of a kernel that is not there")
    if len(trace.addresses) not in (0, len(trace.buffers)):
        raise Malformed("buffers without addresses")
    if call.first_buffer > len(trace.buffers):
        raise Malformed("a call begins after the last buffer")


def _list(value: Any, most: int = _MAX_LIST) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise Malformed(f"no list of at most {most}")
    return value


def _text(value: Any) -> str:
    return _checked(value, str)[:_MAX_TEXT]


def _integer(value: Any) -> int:
    if type(value) is not int or not -(1 << 63) <= value < 1 << 63:
        raise Malformed("no number")
    return value


def _natural(value: Any) -> int:
    if _integer(value) < 0:
        raise Malformed("a number below zero")
    return int(value)


def _checked(value: Any, kind: Callable[..., _T]) -> _T:
    if type(value) is not kind:
        raise Malformed(f"{type(value).__name__} where there should be something else")
    return value  # type: ignore[no-any-return]
