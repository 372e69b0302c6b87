"""What a launch asks of memory, counted as waves of 64 lanes would fetch it.

How a block lies in the lanes is the compiler's choice and not known here. Taken is the usual one: the axis along which
addresses are next to each other varies fastest over the lanes, and each lane takes up to 16 bytes at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kernelvault.replay.triton.interpreter.formats import Array
from kernelvault.replay.triton.interpreter.memory import Buffer, Lanes, Places, numbers

SEGMENT_BYTES, LINE_BYTES = 64, 128
_WAVE, _LANE_BYTES = 64, 16


@dataclass
class Counters:
    """Counts the accesses of a launch: a memory.Watcher. Without `in_waves`, bytes only."""

    in_waves: bool = True
    read_bytes: int = 0
    written_bytes: int = 0
    # Segments that instructions of waves touched, one by one.
    segments: int = 0
    # And lines, of two segments.
    lines: int = 0
    atomics: int = 0
    _touched: dict[int, np.ndarray[tuple[int], np.dtype[np.bool_]]] = field(default_factory=dict)

    def read(self, buffer: Buffer, index: Places, width: int, *, volatile: bool) -> None:
        """See memory.Watcher."""
        index = numbers(index)
        self.read_bytes += index.size * width
        self._count(buffer, index, width)

    def write(self, buffer: Buffer, index: Places, width: int, changes: Array | None) -> None:
        """See memory.Watcher."""
        index = numbers(index)
        self.written_bytes += index.size * width
        self._count(buffer, index, width)

    def atomic(self, buffer: Buffer, index: Lanes, width: int, *, ordered: bool) -> None:
        """See memory.Watcher."""
        self.atomics += index.size
        self.read_bytes += index.size * width
        self.written_bytes += index.size * width
        self._count(buffer, index, width)

    @property
    def unique_bytes(self) -> int:
        """Of distinct segments."""
        return sum(int(touched.sum()) for touched in self._touched.values()) * SEGMENT_BYTES

    def _count(self, buffer: Buffer, index: Lanes, width: int) -> None:
        if not self.in_waves:
            return
        touched = self._touched.get(buffer.number)
        if touched is None:
            touched = self._touched[buffer.number] = np.zeros(-(-buffer.size // SEGMENT_BYTES), np.bool_)
        touched[index * width // SEGMENT_BYTES] = True
        groups = _groups(index, width)
        self.segments += _pieces(groups * width // SEGMENT_BYTES)
        self.lines += _pieces(groups * width // LINE_BYTES)


def _pieces(groups: Lanes) -> int:
    """Distinct numbers of each row, summed."""
    rows = np.sort(groups, axis=1)
    return int((np.diff(rows, axis=1) != 0).sum()) + len(rows)


def _groups(index: Lanes, width: int) -> Lanes:
    """Elements by rows, of which each is served by one instruction."""
    steps = np.diff(index)
    if steps.size and (steps == 1).mean() <= 0.5:
        # Lanes are not next to each other in this order: the compiler takes the order in which they are.
        ordered = np.sort(index)
        if (np.diff(ordered) == 1).mean() > 0.5:
            index = ordered
    steps = np.diff(index)
    vector = _LANE_BYTES // width if steps.size and (steps == 1).mean() > 0.5 else 1
    group = _WAVE * max(1, vector)
    pad = -len(index) % group
    padded = np.concatenate([index, np.full(pad, index[-1])]) if pad else index
    return padded.reshape(-1, group)
