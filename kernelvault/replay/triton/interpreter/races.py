"""Which program wrote what: races between the programs of a launch, and reads of what nobody wrote.

A read before another program's write shows where the programs run in the other order, and is looked for there only.
Programs that do an atomic at the same address one after the other are in order from there on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from kernelvault.replay import bundle
from kernelvault.replay.triton.interpreter.cells import Cells
from kernelvault.replay.triton.interpreter.formats import Array
from kernelvault.replay.triton.interpreter.memory import Buffer, Lanes, Places, numbers
from kernelvault.v1 import kernel_pb2


class RaceJudge(Protocol):
    """Hears of what accesses did wrong together."""

    def race(
        self, buffer: Buffer, element: int, width: int, *, other: int, access: str, before: str, count: int
    ) -> None:
        """`count` elements, of which this is the first, that another program accessed as `before`."""

    def uninitialised(self, buffer: Buffer, element: int, width: int, *, count: int, lanes: int) -> None:
        """`count` of `lanes` read what nobody wrote."""


class Shadow:
    """Watches a replay's accesses. A program is known by its number plus one; an atomic by the negative of it."""

    def __init__(self, judge: RaceJudge, buffers: Iterable[Buffer]) -> None:
        self._judge = judge
        self._writers: dict[int, Cells] = {}
        # Only of buffers that are not written as a whole.
        self._written = {buffer.number: Cells(buffer.size, np.bool_) for buffer in buffers}
        self._me = 1
        # By address of an atomic: the programs that did one there.
        self._meetings: dict[int, set[int]] = {}
        self._before: dict[int, set[int]] = {}
        # Buffers that hold what a launch wrote, or copies of it.
        self.launched: set[int] = set()

    def begin_launch(self) -> None:
        """Launches are in order: what one wrote the next may read."""
        self._writers.clear()
        self._meetings.clear()
        self._before.clear()

    def begin_program(self, number: int) -> None:
        """Whose the next accesses are."""
        self._me = number + 1

    def given(self, buffer: Buffer, start: int = 0, size_bytes: int | None = None) -> None:
        """A range that was written by something other than a launch; all by default."""
        size = buffer.size - start if size_bytes is None else size_bytes
        if start == 0 and size >= buffer.size:
            self._written.pop(buffer.number, None)
        elif buffer.number in self._written and size:
            self._written[buffer.number].fill(start, size, 1)

    def copied(self, source: Buffer, start: int, destination: Buffer, to: int, size_bytes: int) -> None:
        """A range that has become as written as the one it was copied from."""
        if source.number in self.launched:
            self.launched.add(destination.number)
        known = self._written.get(source.number)
        if known is None:
            self.given(destination, to, size_bytes)
        elif destination.number in self._written and size_bytes:
            self._written[destination.number].copy(known, start, to, size_bytes)

    def converted(
        self,
        source: Buffer,
        source_view: kernel_pb2.TensorView,
        destination: Buffer,
        view: kernel_pb2.TensorView,
    ) -> None:
        """A tensor whose elements have become as written as those it was made of."""
        known, target = self._written.get(source.number), self._written.get(destination.number)
        if source.number in self.launched:
            self.launched.add(destination.number)
        if target is None or 0 in view.dims:
            return
        size = bundle.element_bytes(view.dtype)
        if known is None:
            target.set(_elements(view), size, 1)
            return
        size_of_source = bundle.element_bytes(source_view.dtype)
        cells = known.at(_elements(source_view), size_of_source)
        good = known.values[cells].reshape(-1, max(1, size_of_source // known.width)).all(axis=1)
        cells = target.at(_elements(view), size)
        target.values[cells] = np.repeat(good, max(1, size // target.width))

    def read(self, buffer: Buffer, index: Places, width: int, *, volatile: bool) -> None:
        """See memory.Watcher."""
        known = self._written.get(buffer.number)
        if known is not None:
            self._check_written(known, buffer, index, width)
        writers = self._writers.get(buffer.number)
        if writers is None or volatile:
            return
        cells = writers.at(index, width)
        found = writers.values[cells]
        strange = (found > 0) & (found != self._me)
        if strange.any():
            self._race(buffer, writers, numbers(cells)[strange], width, "reads")

    def write(self, buffer: Buffer, index: Places, width: int, changes: Array | None) -> None:
        """See memory.Watcher."""
        self.launched.add(buffer.number)
        known = self._written.get(buffer.number)
        if known is not None:
            known.set(index, width, 1)
        writers = self._writers_of(buffer)
        cells = writers.at(index, width)
        found = writers.values[cells]
        strange = (found != 0) & (np.abs(found) != self._me)
        if strange.any():
            if changes is not None:
                strange &= np.repeat(changes, len(strange) // len(changes))
            if strange.any():
                self._race(buffer, writers, numbers(cells)[strange], width, "writes")
        writers.values[cells] = self._me

    def atomic(self, buffer: Buffer, index: Lanes, width: int, *, ordered: bool) -> None:
        """See memory.Watcher."""
        self.launched.add(buffer.number)
        known = self._written.get(buffer.number)
        if known is not None:
            self._check_written(known, buffer, index, width)
            known.set(index, width, 1)
        if ordered and len(index) == 1:
            self._meet(buffer.base + int(index[0]) * width)
        writers = self._writers_of(buffer)
        cells = writers.at(index, width)
        found = writers.values[cells]
        strange = (found > 0) & (found != self._me)
        if strange.any():
            self._race(buffer, writers, numbers(cells)[strange], width, "changes")
        # A program's own plain writes stay plain.
        writers.values[cells] = np.where(found == self._me, found, -self._me)

    def _writers_of(self, buffer: Buffer) -> Cells:
        if buffer.number not in self._writers:
            self._writers[buffer.number] = Cells(buffer.size, np.int32)
        return self._writers[buffer.number]

    def _check_written(self, known: Cells, buffer: Buffer, index: Places, width: int) -> None:
        cells = known.at(index, width)
        good = known.values[cells]
        if not good.all():
            bad = numbers(cells)[~good]
            parts = max(1, width // known.width)
            self._judge.uninitialised(
                buffer, int(bad[0]) // parts, width, count=-(-len(bad) // parts), lanes=len(good) // parts
            )

    def _meet(self, address: int) -> None:
        others = self._meetings.setdefault(address, set())
        before = self._before.setdefault(self._me, set())
        for other in others - before:
            before.add(other)
            before |= self._before.get(other, set())
        others.add(self._me)

    def _race(self, buffer: Buffer, writers: Cells, cells: Lanes, width: int, access: str) -> None:
        """Tells of the first cell whose writer is not in order with this program."""
        found = writers.values[cells]
        others = np.unique(np.abs(found))
        ordered = self._before.get(self._me, set())
        open_ = [int(other) for other in others if int(other) not in ordered]
        if not open_:
            return
        bad = np.isin(np.abs(found), open_)
        first = int(np.flatnonzero(bad)[0])
        writer = int(found[first])
        self._judge.race(
            buffer,
            int(cells[first]) * writers.width // width,
            width,
            other=abs(writer) - 1,
            access=access,
            before="wrote" if writer > 0 else "changed with an atomic",
            count=int(bad.sum()) * writers.width // width or 1,
        )


def _elements(view: kernel_pb2.TensorView) -> Lanes:
    """The elements of a view in its buffer, in row-major order."""
    index: Lanes = np.full(1, view.offset_elements, np.int64)
    for size, stride in zip(view.dims, view.strides, strict=True):
        index = (index[:, None] + np.arange(size) * stride).reshape(-1)
    return index
