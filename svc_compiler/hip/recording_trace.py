"""The bounded reader of a recorder's trace. A candidate shared the process that wrote it: nothing in it is believed.

The format is described in `recorder/trace.h`. What a forged trace can say is what an honest one could: operations on
ranges that the reader of plans checks again.
"""

from __future__ import annotations

import dataclasses
import enum
import struct
from collections.abc import Callable, Iterator

from svc_compiler.hip.recording_events import (
    Call,
    Convert,
    Copy,
    Download,
    Fill,
    Free,
    Issued,
    Launch,
    Ordering,
    Sync,
    Trace,
    Upload,
    View,
)
from svc_compiler.recording.calls import Buffer, Role

MAGIC = 0x5254564B
VERSION = 3
_HEADER = struct.Struct("<IIQ")
_RECORD = struct.Struct("<II")
_WORD = struct.Struct("<Q")
MAX_RECORDS = 20_100
MAX_BUFFERS = 4096
MAX_DIMS = 64
MAX_TEXT_BYTES = 4096


class Malformed(ValueError):
    """The bytes are no trace that the recorder writes."""


class Kind(enum.IntEnum):
    BUFFER = 1
    FREE = 2
    LAUNCH = 3
    COPY = 4
    FILL = 5
    UPLOAD = 6
    DOWNLOAD = 7
    CONVERT = 8
    RESULT = 9
    CALL = 10
    RETURNED = 11
    END = 12
    PROPERTY = 13
    LIMITATION = 14
    FOREIGN = 15
    TOUCH = 16
    THROWN = 17
    LAUNCH_FAILED = 18
    OTHER_RESULT = 19
    MISSING_FUNCTION = 20
    OVERFLOW = 21
    ORDER = 22
    STREAM_APART = 23
    ERROR_SEEN = 24


class _Fields:
    """The fields of one record, in order."""

    def __init__(self, payload: memoryview) -> None:
        self._payload = payload
        self._position = 0

    def number(self) -> int:
        if len(self._payload) - self._position < _WORD.size:
            raise Malformed("a record ends inside a number")
        (value,) = _WORD.unpack_from(self._payload, self._position)
        self._position += _WORD.size
        return int(value)

    def signed(self) -> int:
        value = self.number()
        return value - (1 << 64) if value >> 63 else value

    def data(self) -> bytes:
        size = self.number()
        if size > len(self._payload) - self._position:
            raise Malformed("a record ends inside a string")
        start = self._position
        self._position += size
        return bytes(self._payload[start : self._position])

    def text(self) -> str:
        return self.data()[:MAX_TEXT_BYTES].decode(errors="replace")

    def numbers(self, most: int) -> tuple[int, ...]:
        count = self.number()
        if count > most:
            raise Malformed(f"a list of {count} numbers, of at most {most}")
        return tuple(self.signed() for _ in range(count))

    def view(self) -> View:
        address, dtype = self.number(), self.text()
        view = View(address, dtype, self.numbers(MAX_DIMS), self.numbers(MAX_DIMS), self.signed())
        if len(view.dims) != len(view.strides) or min(view.dims, default=0) < 0:
            raise Malformed("a view with dims and strides that do not match")
        return view

    def extent(self) -> tuple[int, int, int]:
        x, y, z = self.number(), self.number(), self.number()
        if max(x, y, z) >> 32:
            raise Malformed("an extent beyond 32 bits")
        return x, y, z


def read(buffer: memoryview) -> Trace:
    """The trace in a memory file; raises Malformed for anything that the recorder does not write."""
    trace = Trace()
    for kind, fields in _records(buffer):
        if trace.ended or trace.unanswered:
            raise Malformed("records after the end")
        _take(trace, kind, fields)
    return trace


def _records(buffer: memoryview) -> Iterator[tuple[Kind, _Fields]]:
    magic, version, used = _HEADER.unpack_from(buffer)
    if magic == 0 and used == 0:  # it ended before it began
        return
    if magic != MAGIC or version != VERSION or used > len(buffer) - _HEADER.size:
        raise Malformed("the header is not the recorder's")
    position, end = _HEADER.size, _HEADER.size + used
    for _ in range(MAX_RECORDS):
        if position == end:
            return
        if end - position < _RECORD.size:
            raise Malformed("a record ends inside its head")
        number, size = _RECORD.unpack_from(buffer, position)
        position += _RECORD.size
        if size > end - position or number not in Kind._value2member_map_:
            raise Malformed(f"no record of kind {number} with {size} bytes can be here")
        yield Kind(number), _Fields(buffer[position : position + size])
        position += size
    raise Malformed(f"more than {MAX_RECORDS} records")


def _take(trace: Trace, kind: Kind, fields: _Fields) -> None:
    if kind == Kind.CALL:
        if fields.number() != len(trace.calls):
            raise Malformed("calls out of order")
        trace.calls.append(Call(first_buffer=len(trace.buffers)))
    elif kind == Kind.BUFFER:
        _take_buffer(trace, fields)
    elif kind in _STEPS or kind in (Kind.ORDER, Kind.RESULT, Kind.OTHER_RESULT, Kind.RETURNED):
        if not trace.calls:
            raise Malformed("an operation before the first call")
        if kind == Kind.LAUNCH:
            trace.recover()
        _take_step(trace.calls[-1], kind, fields)
    elif kind == Kind.STREAM_APART:
        trace.streams_apart.add(fields.number())
    elif kind == Kind.PROPERTY:
        name = fields.text()  # first: it comes first
        trace.properties[name] = fields.signed()
    elif kind == Kind.LAUNCH_FAILED:
        trace.failed_launches.append((fields.text(), fields.text()))
    elif kind == Kind.ERROR_SEEN:
        trace.seen_failures = len(trace.failed_launches)
    elif kind in _REMARKS:
        getattr(trace, _REMARKS[kind]).append(fields.text())
    else:
        _take_end(trace, kind, fields)


def _take_buffer(trace: Trace, fields: _Fields) -> None:
    buffer = Buffer(fields.number(), fields.number(), Role(_small(fields, 4)), _small(fields, 1 << 20), fields.text())
    if len(trace.buffers) == MAX_BUFFERS:
        raise Malformed(f"more than {MAX_BUFFERS} buffers")
    if buffer.address + buffer.size >> 47:
        raise Malformed("a buffer beyond the address space")
    trace.buffers.append(buffer)


def _small(fields: _Fields, most: int) -> int:
    value = fields.number()
    if value > most:
        raise Malformed(f"{value} where at most {most} can be")
    return value


def _take_step(call: Call, kind: Kind, fields: _Fields) -> None:
    if kind == Kind.RESULT:
        call.results.append(fields.view())
    elif kind == Kind.OTHER_RESULT:
        call.other_results.append(fields.text())
    elif kind == Kind.RETURNED:
        call.returned_sequence = fields.number() != 0
    elif kind == Kind.ORDER:
        what = Ordering(_small(fields, max(Ordering)))
        call.steps.append(Sync(what, fields.number(), fields.number()))
    else:
        stream = fields.number()  # first: it comes first
        call.steps.append(dataclasses.replace(_STEPS[kind](fields), stream=stream))


def _take_end(trace: Trace, kind: Kind, fields: _Fields) -> None:
    if kind == Kind.TOUCH:
        trace.touch = (fields.number(), fields.number() != 0)
    elif kind == Kind.THROWN:
        trace.thrown = fields.text()
    elif kind == Kind.MISSING_FUNCTION:
        trace.missing_function = fields.text()
    elif kind == Kind.OVERFLOW:
        trace.overflow = True
    else:
        trace.ended = True


def _launch(fields: _Fields) -> Launch:
    kernel, grid, block = fields.text(), fields.extent(), fields.extent()
    lds, arguments = _small(fields, 1 << 30), fields.data()
    return Launch(kernel, grid, block, lds, arguments, fields.numbers(len(arguments)))


_REMARKS = {Kind.LIMITATION: "limitations", Kind.FOREIGN: "foreign_operators"}
_STEPS: dict[Kind, Callable[[_Fields], Issued]] = {
    Kind.LAUNCH: _launch,
    Kind.COPY: lambda fields: Copy(fields.number(), fields.number(), fields.number()),
    Kind.FILL: lambda fields: Fill(fields.number(), fields.number(), fields.data()),
    Kind.UPLOAD: lambda fields: Upload(fields.number(), fields.data()),
    Kind.CONVERT: lambda fields: Convert(fields.view(), fields.view()),
    Kind.DOWNLOAD: lambda fields: Download(fields.view(), fields.text(), fields.number() != 0),
    Kind.FREE: lambda fields: Free(fields.number()),
}
