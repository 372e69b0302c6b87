"""Device memory: buffers far apart in an address space of their own, and every access to them checked.

Addresses are numbers only: buffer i begins at (i + 1) * 2^40, so that one that lies beyond a buffer, on either side,
still tells which it meant. Nothing is read or written outside of a buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import triton.language as tl

from kernelvault.replay.triton.interpreter import formats
from kernelvault.replay.triton.interpreter.formats import Array

SPACING_BITS = 40
_SPACING = 1 << SPACING_BITS
# What lanes read that are out of bounds: NaN as floats, -1 as integers.
_NOWHERE = 0xFF

Lanes = np.ndarray[Any, np.dtype[np.int64]]
# Elements of a buffer: one after the other, or each by its number.
Places = slice | Lanes
Operation = Callable[[Any, Any], Array]


class Buffer:
    """A piece of device memory."""

    def __init__(self, number: int, data: np.ndarray[Any, np.dtype[np.uint8]], base: int | None = None) -> None:
        self.number = number
        self.base = (number + 1) << SPACING_BITS if base is None else base
        self.data = data
        self.size = data.nbytes
        self.end = self.base + data.nbytes
        self._views: dict[np.dtype[Any], Array] = {}

    def view(self, dtype: np.dtype[Any]) -> Array:
        """The bytes as elements."""
        known = self._views.get(dtype)
        if known is None:
            whole = self.size // dtype.itemsize * dtype.itemsize
            known = self._views[dtype] = self.data[:whole].view(dtype)
        return known


class Watcher(Protocol):
    """Sees each access that is in bounds; `index` counts elements of `width` bytes, in the order of the lanes."""

    def read(self, buffer: Buffer, index: Places, width: int, *, volatile: bool) -> None:
        """Lanes read."""

    def write(self, buffer: Buffer, index: Places, width: int, changes: Array | None) -> None:
        """Lanes are about to write; `changes`: which of them another value than stands there (None: unknown)."""

    def atomic(self, buffer: Buffer, index: Lanes, width: int, *, ordered: bool) -> None:
        """Lanes do an atomic; `ordered`: it orders other accesses."""


class Judge(Protocol):
    """Hears of what an access did wrong."""

    def out_of_bounds(self, buffer: Buffer | None, address: Array, lanes: int, width: int, kind: str) -> None:
        """Active lanes of an access, `lanes` in all, at addresses beyond a buffer; None: near no buffer."""

    def misaligned(self, buffer: Buffer, address: Array, lanes: int, width: int, kind: str) -> None:
        """Addresses that are no multiples of an element's size."""

    def conflicting_lanes(self, buffer: Buffer, index: Lanes, width: int) -> None:
        """Lanes of one store that wrote different values to the same elements."""


class Memory:
    """All buffers of a plan or a launch."""

    def __init__(
        self,
        buffers: Sequence[Buffer],
        judge: Judge | None = None,
        watchers: Sequence[Watcher] = (),
        *,
        foreign: Callable[[int], Buffer | None] = lambda address: None,
    ) -> None:
        self.buffers = list(buffers)
        # Where an address leads that is near no buffer: one that host code took of its own memory.
        self._foreign = foreign
        self.judge = judge
        self.watchers = list(watchers)

    def load(
        self, address: Array, mask: Array | None, fill: Array | None, element: tl.dtype, *, volatile: bool = False
    ) -> Array:
        """Values of the lanes in `mask` (None: all), held as `formats` says; `fill` or zero for the others."""
        stored = formats.stored(element)
        lanes_of = _active(mask)
        wanted = address.reshape(-1) if lanes_of is None else address[lanes_of]
        raw: Array | None = None
        for buffer, index, lanes in self._reach(wanted, stored.itemsize, "reads"):
            for watcher in self.watchers:
                watcher.read(buffer, index, stored.itemsize, volatile=volatile)
            found = buffer.view(stored)[index]
            if lanes is None:
                # A slice is memory itself, which may change.
                raw = found.copy() if isinstance(index, slice) else found
            else:
                raw = _nowhere(len(wanted), stored) if raw is None else raw
                raw[lanes] = found
        if raw is None:
            raw = _nowhere(len(wanted), stored)
        values = formats.decode(raw, element)
        if lanes_of is None:
            return values.reshape(address.shape)
        result = np.zeros(address.shape, values.dtype)
        if fill is not None:
            result[...] = fill
        result[lanes_of] = values
        return result

    def store(self, address: Array, values: Array, mask: Array | None, element: tl.dtype) -> None:
        """Writes the lanes in `mask` (None: all)."""
        stored = formats.stored(element)
        if values.shape != address.shape:
            values = np.broadcast_to(values, address.shape)
        active = _active(mask)
        wanted = address.reshape(-1) if active is None else address[active]
        values = values.reshape(-1) if active is None else values[active]
        raw = np.ascontiguousarray(formats.encode(values, element)).astype(stored, copy=False)
        bits = np.dtype(f"u{stored.itemsize}")
        for buffer, index, lanes in self._reach(wanted, stored.itemsize, "writes"):
            new = (raw if lanes is None else raw[lanes]).view(bits)
            place = buffer.view(bits)
            changes = place[index] != new if self.watchers else None
            for watcher in self.watchers:
                watcher.write(buffer, index, stored.itemsize, changes)
            place[index] = new
            if self.judge and not isinstance(index, slice) and not np.array_equal(place[index], new):
                self.judge.conflicting_lanes(buffer, index[place[index] != new], stored.itemsize)

    def atomic(
        self,
        address: Array,
        operation: Operation,
        values: Array,
        mask: Array | None,
        element: tl.dtype,
        *,
        ordered: bool,
    ) -> Array:
        """The old values; lanes with equal addresses take turns in their order. Zero for lanes out of the mask."""

        def step(old: Array, lanes: Lanes) -> Array:
            return formats.round_to(operation(old, flat[lanes]).astype(old.dtype, copy=False), element)

        flat = np.broadcast_to(values, address.shape).reshape(-1)
        return self._turns(address, step, mask, element, ordered=ordered)

    def compare_exchange(
        self, address: Array, expected: Array, values: Array, element: tl.dtype, *, ordered: bool
    ) -> Array:
        """The old values; where they are the expected ones, the new are written."""

        def step(old: Array, lanes: Lanes) -> Array:
            return np.where(old == wanted[lanes], new[lanes], old)

        wanted = np.broadcast_to(expected, address.shape).reshape(-1)
        new = np.broadcast_to(values, address.shape).reshape(-1)
        return self._turns(address, step, None, element, ordered=ordered)

    def _turns(
        self,
        address: Array,
        step: Callable[[Array, Lanes], Array],
        mask: Array | None,
        element: tl.dtype,
        *,
        ordered: bool,
    ) -> Array:
        stored = formats.stored(element)
        flat = address.reshape(-1)
        active = np.arange(flat.size) if mask is None else np.flatnonzero(np.broadcast_to(mask, address.shape))
        result = np.zeros(flat.size, formats.held(element))
        for buffer, places, lanes in self._reach(flat[active], stored.itemsize, "changes"):
            index = numbers(places)
            for watcher in self.watchers:
                watcher.atomic(buffer, index, stored.itemsize, ordered=ordered)
            mine, place = active if lanes is None else active[lanes], buffer.view(stored)
            for turn in _turns_of(index):
                old = formats.decode(place.take(index[turn]), element)
                result[mine[turn]] = old
                place[index[turn]] = formats.encode(step(old, mine[turn]), element)
        return result.reshape(address.shape)

    def _reach(self, address: Array, width: int, kind: str) -> Iterator[tuple[Buffer, Places, Lanes | None]]:
        """By buffer: the elements that lanes mean, and which lanes these are (None: all). What is wrong is told."""
        if not address.size:
            return
        low = int(address[0])
        row = len(address) > 1 and int(address[-1]) - low == (len(address) - 1) * width and _is_row(address, width)
        if not row:
            low = int(address.min())
        number = (low >> SPACING_BITS) - 1
        if 0 <= number < len(self.buffers):
            buffer = self.buffers[number]
            if row:
                start = low - buffer.base
                if start % width == 0 and start + len(address) * width <= buffer.size:
                    yield buffer, slice(start // width, start // width + len(address)), None
                    return
            elif int(address.max()) + width <= buffer.end:
                offset = address - buffer.base
                if width == 1 or not int(np.bitwise_or.reduce(offset)) & (width - 1):
                    yield buffer, offset >> (width.bit_length() - 1), None
                    return
        yield from self._sort_out(address, width, kind)

    def _sort_out(self, address: Array, width: int, kind: str) -> Iterator[tuple[Buffer, Lanes, Lanes]]:
        for buffer, lanes in self._by_buffer(address):
            if buffer is None:
                self._tell("out_of_bounds", None, address[lanes], address.size, width, kind)
                continue
            offset = address[lanes] - buffer.base
            inside = (offset >= 0) & (offset + width <= buffer.size)
            if not inside.all():
                self._tell("out_of_bounds", buffer, address[lanes[~inside]], address.size, width, kind)
            crooked = inside & (offset % width != 0)
            if crooked.any():
                self._tell("misaligned", buffer, address[lanes[crooked]], address.size, width, kind)
            good = inside & ~crooked
            if good.any():
                yield buffer, offset[good] // width, lanes[good]

    def _by_buffer(self, address: Array) -> Iterator[tuple[Buffer | None, Lanes]]:
        """The lanes by the buffer that they mean; None: no buffer is near."""
        meant = (address + _SPACING // 2 >> SPACING_BITS) - 1
        for number in np.unique(meant):
            lanes = np.flatnonzero(meant == number)
            if 0 <= number < len(self.buffers):
                yield self.buffers[number], lanes
                continue
            while len(lanes):
                buffer = self._foreign(int(address[lanes[0]]))
                if buffer is None:
                    yield None, lanes
                    break
                within = (address[lanes] >= buffer.base) & (address[lanes] < buffer.end)
                yield buffer, lanes[within]
                lanes = lanes[~within]

    def _tell(self, what: str, *arguments: Any) -> None:
        if self.judge:
            getattr(self.judge, what)(*arguments)


def numbers(places: Places) -> Lanes:
    """The numbers of elements."""
    return np.arange(places.start, places.stop) if isinstance(places, slice) else places


def _is_row(address: Array, width: int) -> bool:
    """Whether elements lie one after the other."""
    return bool((address[1:] - address[:-1] == width).all())


def _active(mask: Array | None) -> Any:
    """The index of the lanes in a mask; None is all. The first lanes of a row are a slice."""
    if mask is None:
        return None
    count = int(np.count_nonzero(mask))
    if count == mask.size:
        return None
    return slice(0, count) if mask.ndim == 1 and mask[:count].all() else mask


def _nowhere(count: int, stored: np.dtype[Any]) -> Array:
    return np.full(count * stored.itemsize, _NOWHERE, np.uint8).view(stored)


def _turns_of(index: Lanes) -> Iterator[Lanes]:
    """Positions in rounds, in each of which no element occurs twice; equal elements keep their order."""
    order = np.argsort(index, kind="stable")
    ranked = index[order]
    first = np.concatenate([[True], ranked[1:] != ranked[:-1]])
    if first.all():
        yield order
        return
    starts = np.flatnonzero(first)
    rank = np.arange(len(index)) - np.repeat(starts, np.diff(np.append(starts, len(index))))
    for turn in range(int(rank.max()) + 1):
        yield order[rank == turn]
