"""What streams, events and waits order, as HIP documents it."""

from __future__ import annotations

import pytest

from svc_compiler.hip.recording_events import Ordering, Sync
from svc_compiler.hip.recording_order import DEFAULT_STREAM, MAX_PAIRS, Order

ONE, OTHER, APART, FAR, EVENT = 2, 3, 4, 5, 6


def concurrent(*steps: int | Sync) -> list[int]:
    """What the last of these operations, given by their streams, does not wait for."""
    order = Order({APART, FAR})
    others: list[int] = []
    for step in steps:
        if isinstance(step, Sync):
            order.sync(step)
        else:
            others = order.issue(step)
    return others


MARKS = Sync(Ordering.EVENT_MARKS, EVENT, APART)
WAITS = Sync(Ordering.STREAM_WAITS, FAR, EVENT)


@pytest.mark.parametrize(
    ("steps", "others"),
    [
        ((ONE, ONE), []),
        ((ONE, OTHER), [0]),
        ((ONE, OTHER, DEFAULT_STREAM), []),
        ((ONE, DEFAULT_STREAM, OTHER), []),
        ((ONE, OTHER, DEFAULT_STREAM, ONE, OTHER), [3]),
        ((APART, DEFAULT_STREAM), [0]),
        ((DEFAULT_STREAM, APART), [0]),
        ((APART, MARKS, WAITS, FAR), []),
        ((MARKS, APART, WAITS, FAR), [0]),
        ((APART, WAITS, MARKS, FAR), [0]),
        ((APART, MARKS, APART, WAITS, FAR), [1]),
        ((APART, MARKS, Sync(Ordering.STREAM_WAITS, DEFAULT_STREAM, EVENT), DEFAULT_STREAM, ONE), []),
        ((APART, FAR, Sync(Ordering.HOST_WAITS, APART, 0), DEFAULT_STREAM), [1]),
        ((ONE, OTHER, Sync(Ordering.HOST_WAITS, DEFAULT_STREAM, 0), APART), []),
        ((APART, MARKS, APART, Sync(Ordering.HOST_AWAITS, EVENT, 0), FAR), [1]),
        ((APART, FAR, Sync(Ordering.HOST_WAITS_FOR_ALL, 0, 0), ONE), []),
    ],
)
def test_what_an_operation_does_not_wait_for(steps: tuple[int | Sync, ...], others: list[int]) -> None:
    """Operations by their numbers, in the order of their issue."""
    assert concurrent(*steps) == others


def test_what_the_caller_does_not_wait_for() -> None:
    """Its stream is the default one."""
    order = Order({APART})
    order.issue(ONE)
    order.issue(APART)
    assert order.unawaited(DEFAULT_STREAM) == [1]


def test_pairs_are_counted_and_no_more_told_than_a_plan_holds() -> None:
    """Two streams of many operations make a square of pairs."""
    order = Order({APART, FAR})
    told = sum(len(order.issue(stream)) for stream in [APART, FAR] * 600)
    assert told <= MAX_PAIRS < order.pairs
