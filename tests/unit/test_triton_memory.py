"""The interpreter's memory: bounds, alignment, races between programs, what nobody wrote, and what is counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as tl

from kernelvault.replay.triton.interpreter.cells import Cells
from kernelvault.replay.triton.interpreter.counters import Counters
from kernelvault.replay.triton.interpreter.memory import Buffer, Memory
from kernelvault.replay.triton.interpreter.races import Shadow

F32, I32, BF16 = tl.float32, tl.int32, tl.bfloat16


class Heard:
    """A judge that remembers what it hears, in order, without addresses."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def out_of_bounds(self, buffer: Buffer | None, address: Any, lanes: int, width: int, kind: str) -> None:
        """Remembers the buffer and how many lanes of how many."""
        self.told.append(("out of bounds", None if buffer is None else buffer.number, len(address), lanes, kind))

    def misaligned(self, buffer: Buffer, address: Any, lanes: int, width: int, kind: str) -> None:
        """Remembers the buffer and how many lanes of how many."""
        self.told.append(("misaligned", buffer.number, len(address), lanes, kind))

    def conflicting_lanes(self, buffer: Buffer, index: Any, width: int) -> None:
        """Remembers the first element."""
        self.told.append(("conflict", buffer.number, int(index[0])))

    def race(
        self, buffer: Buffer, element: int, width: int, *, other: int, access: str, before: str, count: int
    ) -> None:
        """Remembers the element and the other program."""
        self.told.append(("race", buffer.number, element, other, access, before))

    def uninitialised(self, buffer: Buffer, element: int, width: int, *, count: int, lanes: int) -> None:
        """Remembers the first element."""
        self.told.append(("unwritten", buffer.number, element, count, lanes))


def memory(*sizes: int, given: bool = True) -> tuple[Memory, Heard, Shadow]:
    """Buffers of so many bytes, zeroed, with a judge and a shadow."""
    heard = Heard()
    buffers = [Buffer(number, np.zeros(size, np.uint8)) for number, size in enumerate(sizes)]
    shadow = Shadow(heard, buffers)
    for buffer in buffers if given else ():
        shadow.given(buffer)
    return Memory(buffers, heard, [shadow]), heard, shadow


def addresses(made: Memory, buffer: int, index: Any, width: int = 4) -> Any:
    """Of elements by their places."""
    return made.buffers[buffer].base + np.asarray(index) * width


def test_masked_lanes_are_not_read() -> None:
    """A lane that is masked off may point anywhere, and gets the fill value."""
    made, heard, _ = memory(16)
    made.buffers[0].view(np.dtype(np.float32))[:] = [1, 2, 3, 4]
    at = addresses(made, 0, [0, 3, 99])
    values = made.load(at, np.array([True, True, False]), np.float32([7, 7, 7]), F32)
    assert values.tolist() == [1, 4, 7]
    assert heard.told == []


def test_lanes_beyond_a_buffer_are_found() -> None:
    """Each buffer is told apart, also where one access goes beyond two; such lanes write nothing."""
    made, heard, _ = memory(16, 16)
    at = np.concatenate([addresses(made, 0, [3, 4, 5]), addresses(made, 1, [-1, 0])])
    made.store(at, np.float32([1, 2, 3, 4, 5]), None, F32)
    assert heard.told == [("out of bounds", 0, 2, 5, "writes"), ("out of bounds", 1, 1, 5, "writes")]
    assert made.buffers[0].view(np.dtype(np.float32)).tolist() == [0, 0, 0, 1]
    assert made.buffers[1].view(np.dtype(np.float32)).tolist() == [5, 0, 0, 0]


def test_last_element_must_fit() -> None:
    """An element that begins within a buffer and ends beyond it is out of bounds."""
    made, heard, _ = memory(10)
    made.load(addresses(made, 0, [0, 1, 2]), None, None, F32)
    assert heard.told == [("out of bounds", 0, 1, 3, "reads")]


def test_null_pointer_is_near_no_buffer() -> None:
    """An address that belongs to nothing is told as such, and reads as NaN."""
    made, heard, _ = memory(16)
    values = made.load(np.array([0, 8]), None, None, F32)
    assert heard.told == [("out of bounds", None, 2, 2, "reads")]
    assert np.isnan(values).all()


def test_crooked_addresses_are_found() -> None:
    """An element lies at a multiple of its size."""
    made, heard, _ = memory(16)
    made.load(np.array([made.buffers[0].base + 2]), None, None, F32)
    assert heard.told == [("misaligned", 0, 1, 1, "reads")]


def test_lanes_of_one_store_that_differ() -> None:
    """Equal addresses in one store are harmless only with equal values."""
    made, heard, _ = memory(16)
    made.store(addresses(made, 0, [1, 1]), np.float32([2, 2]), None, F32)
    assert heard.told == []
    made.store(addresses(made, 0, [1, 1]), np.float32([2, 3]), None, F32)
    assert heard.told == [("conflict", 0, 1)]


def test_two_programs_write_different_values() -> None:
    """A race names the other program; equal values are none."""
    made, heard, shadow = memory(16)
    shadow.begin_launch()
    for program, value in ((3, 1.0), (4, 1.0), (5, 2.0)):
        shadow.begin_program(program)
        made.store(addresses(made, 0, [2]), np.float32([value]), None, F32)
    assert heard.told == [("race", 0, 2, 4, "writes", "wrote")]


def test_program_reads_what_another_wrote() -> None:
    """A read of another program's write is a race; in the next launch it is none."""
    made, heard, shadow = memory(16)
    shadow.begin_launch()
    shadow.begin_program(0)
    made.store(addresses(made, 0, [0, 1]), np.float32([1, 2]), None, F32)
    made.load(addresses(made, 0, [0, 1]), None, None, F32)
    shadow.begin_program(1)
    made.load(addresses(made, 0, [1]), None, None, F32)
    assert heard.told == [("race", 0, 1, 0, "reads", "wrote")]
    shadow.begin_launch()
    made.load(addresses(made, 0, [0, 1]), None, None, F32)
    assert len(heard.told) == 1


def test_atomics_race_with_stores_only() -> None:
    """Programs may all do atomics; a plain store among them is a race."""
    made, heard, shadow = memory(16)
    shadow.begin_launch()
    for program in range(3):
        shadow.begin_program(program)
        made.atomic(addresses(made, 0, [0]), np.add, np.float32([1]), None, element=F32, ordered=False)
    assert heard.told == []
    assert made.buffers[0].view(np.dtype(np.float32))[0] == 3
    shadow.begin_program(3)
    made.store(addresses(made, 0, [0]), np.float32([0]), None, F32)
    assert heard.told == [("race", 0, 0, 2, "writes", "changed with an atomic")]


def test_meeting_at_an_atomic_orders_programs() -> None:
    """A program that does an atomic where another did one before may read what that one wrote."""
    made, heard, shadow = memory(16, 4)
    shadow.begin_launch()
    for program in range(3):
        shadow.begin_program(program)
        made.store(addresses(made, 0, [program]), np.float32([1]), None, F32)
        made.atomic(addresses(made, 1, [0]), np.add, np.int32([1]), None, element=I32, ordered=True)
    made.load(addresses(made, 0, [0, 1, 2]), None, None, F32)
    assert heard.told == []


def test_accesses_of_different_widths_meet() -> None:
    """Two halves of a word are two elements, and one word of both."""
    made, heard, shadow = memory(16)
    shadow.begin_launch()
    shadow.begin_program(0)
    made.store(addresses(made, 0, [1]), np.int32([-1]), None, I32)
    shadow.begin_program(1)
    made.store(addresses(made, 0, [3], width=2), np.float32([1]), None, BF16)
    assert heard.told == [("race", 0, 3, 0, "writes", "wrote")]


def test_reading_what_nobody_wrote() -> None:
    """Only elements that nothing wrote are told, and parts of a buffer may be given."""
    made, heard, shadow = memory(32, given=False)
    shadow.given(made.buffers[0], 0, 8)
    made.store(addresses(made, 0, [2]), np.float32([1]), None, F32)
    made.load(addresses(made, 0, [0, 1, 2, 3, 4]), None, None, F32)
    assert heard.told == [("unwritten", 0, 3, 2, 5)]


def test_atomics_take_turns() -> None:
    """Lanes with equal addresses see each other's results, in their order."""
    made, _, _ = memory(16)
    old = made.atomic(
        addresses(made, 0, [1, 1, 0, 1]), np.add, np.int32([1, 10, 5, 100]), None, element=I32, ordered=False
    )
    assert old.tolist() == [0, 1, 0, 11]
    assert made.buffers[0].view(np.dtype(np.int32)).tolist() == [5, 111, 0, 0]


def test_compare_exchange() -> None:
    """Only the first lane finds what it expects."""
    made, _, _ = memory(4)
    old = made.compare_exchange(addresses(made, 0, [0, 0]), np.int32([0, 0]), np.int32([7, 8]), I32, ordered=True)
    assert old.tolist() == [0, 7]
    assert made.buffers[0].view(np.dtype(np.int32)).tolist() == [7]


def test_foreign_memory_by_its_address() -> None:
    """An address near no buffer may belong to memory that somebody knows."""
    other = Buffer(9, np.arange(4, dtype=np.float32).view(np.uint8), base=0x7F0000000000)
    heard = Heard()
    made = Memory([], heard, foreign=lambda address: other if other.base <= address < other.end else None)
    values = made.load(np.array([other.base + 4, other.base + 12]), None, None, F32)
    assert values.tolist() == [1, 3]
    assert heard.told == []


def test_bfloat16_in_memory() -> None:
    """A bfloat16 is the upper half of a float32."""
    made, _, _ = memory(4)
    made.store(addresses(made, 0, [0, 1], width=2), np.float32([1.0, -2.0]), None, BF16)
    assert made.buffers[0].view(np.dtype(np.uint16)).tolist() == [0x3F80, 0xC000]
    assert made.load(addresses(made, 0, [0, 1], width=2), None, None, BF16).tolist() == [1.0, -2.0]


def test_cells_become_finer() -> None:
    """What was known of a large element is known of its parts."""
    cells = Cells(16, np.int32)
    cells.set(np.array([1]), 8, 5)
    found = cells.at(np.array([3, 4]), 2)
    assert cells.values[found].tolist() == [0, 5]


def test_cells_are_copied_with_their_bytes() -> None:
    """A range takes over what is known of another, as finely as its ends ask."""
    source, to = Cells(16, np.bool_), Cells(16, np.bool_)
    source.set(np.array([1, 2]), 4, 1)
    to.copy(source, start=2, to=0, size_bytes=6)
    assert to.values.tolist() == [False] + 2 * [True] + 5 * [False]


def test_contiguous_accesses_are_counted_whole() -> None:
    """A row of floats takes as many segments as it fills."""
    counters = Counters()
    counters.read(Buffer(0, np.zeros(8192, np.uint8)), np.arange(1024), 4, volatile=False)
    assert (counters.read_bytes, counters.segments, counters.unique_bytes) == (4096, 64, 4096)


def test_scattered_accesses_cost_a_segment_each() -> None:
    """Floats that are far apart take a segment each."""
    counters = Counters()
    counters.write(Buffer(0, np.zeros(1 << 16, np.uint8)), np.arange(64) * 64, 4, None)
    assert (counters.written_bytes, counters.segments) == (256, 64)


def test_tiles_are_counted_along_their_rows() -> None:
    """The order of the lanes follows the memory, whichever axis of a tile that is."""
    counters = Counters()
    tile = (np.arange(64)[None, :] * 64 + np.arange(64)[:, None]).reshape(-1)
    counters.read(Buffer(0, np.zeros(1 << 16, np.uint8)), tile, 4, volatile=False)
    assert counters.segments == 64 * 64 * 4 // 64
