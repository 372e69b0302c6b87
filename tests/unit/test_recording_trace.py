"""The reader of a recorder's trace takes nothing on trust."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_compiler.hip.recording_events import Copy, Download, Trace, View
from svc_compiler.hip.recording_trace import MAGIC, MAX_RECORDS, Kind, Malformed, read
from svc_compiler.recording.calls import Role


def number(value: int) -> bytes:
    """A field."""
    return struct.pack("<Q", value)


def text(value: str) -> bytes:
    """A field."""
    return number(len(value)) + value.encode()


def record(kind: int, payload: bytes = b"") -> bytes:
    """A record with its head."""
    return struct.pack("<II", kind, len(payload)) + payload


def trace(*records: bytes, magic: int = MAGIC, version: int = 3, used: int | None = None) -> Trace:
    """Reads a trace of these records."""
    body = b"".join(records)
    head = struct.pack("<IIQ", magic, version, len(body) if used is None else used)
    return read(memoryview(head + body + bytes(64)))


CALL = record(Kind.CALL, number(0))
# A view: address, dtype, dims, strides, offset.
SOURCE = number(8) + text("int32") + number(0) + number(0) + number(0)
BUFFER = record(Kind.BUFFER, number(1 << 44) + number(64) + number(1) + number(0) + text("x"))


def test_a_whole_trace() -> None:
    """Buffers, operations, remarks and the end are taken in order."""
    read_back = trace(
        CALL,
        BUFFER,
        record(Kind.COPY, number(0) + number(1) + number(2) + number(3)),
        record(Kind.PROPERTY, text("warp_size") + number(64)),
        record(Kind.DOWNLOAD, number(0) + SOURCE + text("hipMemcpy") + number(1)),
        record(Kind.END, number(0)),
    )
    assert read_back.calls[0].steps == [Copy(1, 2, 3), Download(View(8, "int32", (), (), 0), "hipMemcpy", True)]
    assert (read_back.buffers[0].role, read_back.buffers[0].name) == (Role.INPUT, "x")
    assert (read_back.properties, read_back.unanswered, read_back.ended) == ({"warp_size": 64}, None, True)


def test_nothing_follows_a_copy_without_an_answer() -> None:
    """The process ends at the first copy from the device that has no answer."""
    asks = record(Kind.DOWNLOAD, number(0) + SOURCE + text("hipMemcpy") + number(0))
    stopped = trace(CALL, BUFFER, asks)
    assert stopped.unanswered == Download(View(8, "int32", (), (), 0), "hipMemcpy", answered=False)
    with pytest.raises(Malformed, match="after the end"):
        trace(CALL, BUFFER, asks, asks)


def test_nothing_was_written() -> None:
    """A process that died before it began left zeros: no trace, and no error."""
    assert read(memoryview(bytes(4096))) == Trace()


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([record(99)], "no record of kind 99 with 0 bytes can be here"),
        ([struct.pack("<II", Kind.CALL, 1 << 30)], "no record of kind 10 with 1073741824 bytes can be here"),
        ([record(Kind.CALL, b"1234")], "a record ends inside a number"),
        ([record(Kind.LIMITATION, number(1 << 63))], "a record ends inside a string"),
        ([record(Kind.CALL, number(1))], "calls out of order"),
        ([record(Kind.FREE, number(1))], "an operation before the first call"),
        ([record(Kind.END, number(0)), CALL], "records after the end"),
        ([BUFFER.replace(number(64), number(1 << 62))], "a buffer beyond the address space"),
        ([BUFFER.replace(number(1) + number(0), number(9) + number(0))], "9 where at most 4 can be"),
        ([CALL, record(Kind.RESULT, number(0) + text("float32") + number(1 << 40))], "a list of 1099511627776 numbers"),
    ],
)
def test_what_the_recorder_does_not_write(records: list[bytes], reason: str) -> None:
    """Each damage is told."""
    with pytest.raises(Malformed, match=reason):
        trace(*records)


def test_the_number_of_records_is_bounded() -> None:
    """A trace of many small records is refused."""
    with pytest.raises(Malformed, match=f"more than {MAX_RECORDS} records"):
        trace(CALL, *[record(Kind.OVERFLOW)] * (MAX_RECORDS + 1))


@pytest.mark.parametrize("head", [{"magic": 1}, {"version": 1}, {"used": 1 << 62}])
def test_a_foreign_header(head: dict[str, int]) -> None:
    """A header that is not the recorder's is refused."""
    with pytest.raises(Malformed, match="the header is not the recorder's"):
        trace(CALL, **head)


@given(st.binary(max_size=400), st.lists(st.sampled_from(list(Kind)), max_size=8))
def test_any_bytes(junk: bytes, kinds: list[Kind]) -> None:
    """Whatever stands there, the reader returns a trace or says Malformed."""
    step = max(1, len(junk) // (len(kinds) or 1))
    records = [record(kind, junk[i * step : (i + 1) * step]) for i, kind in enumerate(kinds)]
    for parts in (records, [CALL, *records], [junk]):
        try:
            trace(*parts)
        except Malformed:
            continue
