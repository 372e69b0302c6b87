"""What is an address in a recording is told by two runs at different places."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_compiler.hip.recording_addresses import Memory, NotRelocatable, Place, relocate
from svc_compiler.recording.calls import Buffer, Role

SIZES = (64, 4096, 1 << 22)


def buffers(base: int, spacing: int) -> list[Buffer]:
    """Three buffers of one run."""
    made, address = [], base
    for position, size in enumerate(SIZES):
        made.append(Buffer(address, size, Role.INPUT, position, f"b{position}"))
        address += (size + (2 << 20) - 1) // (2 << 20) * (2 << 20) + spacing * (2 << 20)
    return made


RUNS = buffers(1 << 44, 2), buffers((1 << 45) + (3 << 21), 5)
MEMORIES = Memory(RUNS[0]), Memory(RUNS[1])


def test_where_an_address_is() -> None:
    """An address in a buffer, at its end or just before it belongs to it; others to none."""
    memory, start = MEMORIES[0], RUNS[0][1].address
    assert memory.locate(start) == Place(1, 0)
    assert memory.locate(start + 4096) == Place(1, 4096)
    assert memory.locate(start - 4) == Place(1, -4)
    assert memory.locate(123) is None
    assert memory.locate(1 << 60) is None


def test_buffers_without_bytes_have_no_addresses() -> None:
    """The null pointer of an empty tensor is no place."""
    assert Memory([Buffer(0, 0, Role.INPUT, 0, "empty")]).locate(0) is None


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("<q"), st.integers(-(1 << 40), 1 << 40)),
            st.tuples(st.just("<f"), st.floats(width=32, allow_nan=False)),
            st.tuples(st.just("p"), st.integers(0, 2), st.integers(-64, 4096)),
        ),
        max_size=12,
    )
)
def test_pointers_are_found_wherever_they_lie(fields: list[tuple[object, ...]]) -> None:
    """Packed or aligned, each pointer is found and all else is kept."""
    first, second, expected, at = b"", b"", [], 0
    for field in fields:
        if field[0] == "p":
            _, buffer, offset = field
            assert isinstance(buffer, int)
            assert isinstance(offset, int)
            first += struct.pack("<Q", RUNS[0][buffer].address + offset)
            second += struct.pack("<Q", RUNS[1][buffer].address + offset)
            expected.append((at, buffer, offset))
        else:
            first += struct.pack(str(field[0]), field[1])
            second += struct.pack(str(field[0]), field[1])
        at = len(first)
    content, relocations = relocate(first, second, MEMORIES)
    assert [(r.at, r.buffer, r.offset) for r in relocations] == expected
    for place, _, _ in expected:
        content = content[:place] + first[place : place + 8] + content[place + 8 :]
    assert content == first


def test_padding_is_no_difference() -> None:
    """Bytes that no member owns may hold anything."""
    assert relocate(b"\1\2\3\4", b"\1\2\7\4", MEMORIES, padding=[2]) == (b"\1\2\0\4", [])


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (b"\1", b"\2", "byte 0 is no address and changes with the run"),
        (b"\1", b"\1\1", "1 bytes in one run and 2 in the other"),
        (
            struct.pack("<Q", RUNS[0][1].address - RUNS[0][0].address),
            struct.pack("<Q", RUNS[1][1].address - RUNS[1][0].address),
            "is no address and changes with the run",
        ),
        (struct.pack("<I", RUNS[0][2].address >> 16), struct.pack("<I", RUNS[1][2].address >> 16), "is no address"),
    ],
)
def test_other_differences(first: bytes, second: bytes, reason: str) -> None:
    """What changes with the run and is no pointer, such as the distance of two, cannot be relocated."""
    with pytest.raises(NotRelocatable, match=reason):
        relocate(first, second, MEMORIES)
