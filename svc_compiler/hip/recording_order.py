"""Which operations of a call are ordered, by streams, events and what host code waits for.

As HIP documents it: operations on one stream follow one another. The default stream waits for all streams that are not
`hipStreamNonBlocking`, and these wait for it. An event stands for what its stream had got when it was recorded. What
host code has waited for comes before all that it issues later. A call begins when everything before it is over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from svc_compiler.hip.recording_events import Ordering, Sync

DEFAULT_STREAM = 0
# That are told.
MAX_PAIRS = 1 << 16


class Order:
    """Follows the steps of a call. Sets of operations are integers with a bit for each."""

    def __init__(self, apart: Collection[int]) -> None:
        """`apart` are the streams that neither wait for the default stream nor are waited for."""
        self._apart = apart
        self._count = 0
        # Of operations that nothing orders.
        self.pairs = 0
        self._streams: dict[int, int] = {}
        self._events: dict[int, int] = {}
        self._host = 0

    def issue(self, stream: int) -> list[int]:
        """The next operation is on `stream`: the earlier ones that it does not wait for, up to MAX_PAIRS in all."""
        before = self._before(stream)
        missing = ~before & ((1 << self._count) - 1)
        self.pairs += missing.bit_count()
        others = _members(missing) if self.pairs <= MAX_PAIRS else []
        self._streams[stream] = before | 1 << self._count
        self._count += 1
        return others

    def unawaited(self, stream: int) -> list[int]:
        """The operations that one on `stream` would not wait for, were it issued now."""
        return _members(~self._before(stream) & ((1 << self._count) - 1))

    def sync(self, step: Sync) -> None:
        """Host code or a stream waits, or an event is recorded."""
        match step.what:
            case Ordering.EVENT_MARKS:
                self._events[step.first] = self._before(step.second)
            case Ordering.STREAM_WAITS:
                self._streams[step.first] = self._streams.get(step.first, 0) | self._events.get(step.second, 0)
            case Ordering.HOST_WAITS:
                self._host |= self._before(step.first)
            case Ordering.HOST_AWAITS:
                self._host |= self._events.get(step.first, 0)
            case Ordering.HOST_WAITS_FOR_ALL:
                self._host = (1 << self._count) - 1

    def _before(self, stream: int) -> int:
        before = self._host | self._streams.get(stream, 0)
        if stream in self._apart:
            return before
        if stream != DEFAULT_STREAM:
            return before | self._streams.get(DEFAULT_STREAM, 0)
        for other, known in self._streams.items():
            if other not in self._apart:
                before |= known
        return before


def _members(numbers: int) -> list[int]:
    return list(_bits(numbers))


def _bits(numbers: int) -> Iterator[int]:
    while numbers:
        lowest = numbers & -numbers
        yield lowest.bit_length() - 1
        numbers ^= lowest
