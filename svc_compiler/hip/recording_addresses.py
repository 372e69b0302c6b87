"""Which bytes of a recording are addresses: those that move with the device memory of the run."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kernelvault.v1 import plan_pb2
from svc_compiler.recording.calls import Buffer

WORD_BYTES = 8
# Half of the guard between two buffers: an address just outside of a buffer is still one of it.
_REACH_BYTES = 1 << 20


class Place(NamedTuple):
    """An address as a buffer, by its position in the trace, and an offset."""

    buffer: int
    offset: int


class NotRelocatable(Exception):
    """Something other than an address differs between the runs."""


class Memory:
    """The buffers of one run, by their addresses."""

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        known = sorted((buffer.address, index) for index, buffer in enumerate(buffers) if buffer.address)
        self._buffers = buffers
        self._starts = [address for address, _ in known]
        self._indices = [index for _, index in known]

    def locate(self, address: int) -> Place | None:
        """The buffer that `address` is in, or just outside of; None if it is no address of device memory."""
        after = bisect.bisect_right(self._starts, address)
        for at in (after - 1, after):
            if 0 <= at < len(self._starts):
                offset = address - self._starts[at]
                if -_REACH_BYTES <= offset <= self._buffers[self._indices[at]].size + _REACH_BYTES:
                    return Place(self._indices[at], offset)
        return None


def same_place(first: int, second: int, memories: tuple[Memory, Memory]) -> Place:
    """Where both runs have the same address; raises NotRelocatable where they differ or it is none."""
    place, other = memories[0].locate(first), memories[1].locate(second)
    if place is None or place != other:
        raise NotRelocatable(f"address {first:#x} is not the same place in both runs")
    return place


def relocate(
    first: bytes, second: bytes, memories: tuple[Memory, Memory], padding: Iterable[int] = ()
) -> tuple[bytes, list[plan_pb2.Relocation]]:
    """`first` with its addresses zeroed, and what they are: by position in the trace.

    `padding` are offsets of bytes that no member owns. Raises NotRelocatable for any other difference.
    """
    if len(first) != len(second):
        raise NotRelocatable(f"{len(first)} bytes in one run and {len(second)} in the other")
    own, other = bytearray(first), bytearray(second)
    for at in padding:
        if at < len(own):
            own[at] = other[at] = 0
    relocations = []
    # Aligned words before packed ones.
    for at in [*range(0, len(own) - 7, WORD_BYTES), *range(len(own) - 7)] if own != other else ():
        words = own[at : at + WORD_BYTES], other[at : at + WORD_BYTES]
        if words[0] == words[1]:
            continue
        places = [memory.locate(int.from_bytes(word, "little")) for memory, word in zip(memories, words, strict=True)]
        if places[0] is not None and places[0] == places[1]:
            relocations.append(plan_pb2.Relocation(at=at, buffer=places[0].buffer, offset=places[0].offset))
            own[at : at + WORD_BYTES] = other[at : at + WORD_BYTES] = bytes(WORD_BYTES)
    if own != other:
        at = next(i for i, (a, b) in enumerate(zip(own, other, strict=True)) if a != b)
        raise NotRelocatable(f"byte {at} is no address and changes with the run")
    return bytes(own), sorted(relocations, key=lambda relocation: relocation.at)
