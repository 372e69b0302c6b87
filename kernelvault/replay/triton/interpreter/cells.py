"""Numbers kept for each element of a buffer, as fine as the smallest element by which it was accessed."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelvault.replay.triton.interpreter.memory import Places

_WIDEST = 16


class Cells:
    """One number a cell; zero at first. Memory is taken as cells are touched."""

    def __init__(self, size_bytes: int, dtype: type[Any]) -> None:
        self._size_bytes = size_bytes
        self._dtype = dtype
        self.width = 0
        self.values: np.ndarray[Any, Any] = np.zeros(0, dtype)

    def at(self, index: Places, width: int) -> Places:
        """The cells of elements of `width` bytes; of several cells each, one after the other."""
        if width < self.width or not self.width:
            self._refine(width)
        if width == self.width:
            return index
        parts = width // self.width
        if isinstance(index, slice):
            return slice(index.start * parts, index.stop * parts)
        return (index[:, None] * parts + np.arange(parts)).reshape(-1)

    def set(self, index: Places, width: int, value: int) -> None:
        """Sets the cells of elements."""
        cells = self.at(index, width)
        self.values[cells] = value

    def copy(self, source: Cells, start: int, to: int, size_bytes: int) -> None:
        """Takes over what is known of a range of another buffer's bytes."""
        width = _WIDEST
        while any(number % width for number in (start, to, size_bytes)):
            width //= 2
        finest = min(width, self.width or width, source.width or width)
        for cells in (source, self):
            if cells.width != finest:
                cells._refine(finest)
        known = source.values[start // finest : (start + size_bytes) // finest]
        self.values[to // finest : (to + size_bytes) // finest] = known

    def _refine(self, width: int) -> None:
        count = -(-self._size_bytes // width)
        if self.width and self.values.any():
            self.values = np.repeat(self.values, self.width // width)[:count].copy()
        else:
            self.values = np.zeros(count, self._dtype)
        self.width = width

    def fill(self, start: int, size_bytes: int, value: int) -> None:
        """Sets the cells that a range of bytes touches."""
        if not self.width:
            self._refine(_WIDEST)
        end = start + size_bytes
        while start % self.width or (end % self.width and end < self._size_bytes):
            self._refine(self.width // 2)
        self.values[start // self.width : -(-end // self.width)] = value
