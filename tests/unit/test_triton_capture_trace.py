"""The reader of captures: a candidate shared the process that wrote them."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from kernelvault.v1 import plan_pb2
from svc_compiler.triton import capture_trace

EMPTY_CALL = {"first_buffer": 0, "reads": [], "other_results": [], "returned_sequence": False}
HEADER: dict[str, Any] = {
    "buffers": [[4000, True, 0, "x"], [16, False, 0, ""]],
    "calls": [EMPTY_CALL, {**EMPTY_CALL, "first_buffer": 2}],
    "foreign": [["torch.softmax", "_softmax", "kernel.py:3"]],
    "limitations": ["one"],
    "notes": ["two"],
    "properties": {"warp_size": 64},
    "fault": ["exception", "ValueError: no", "kernel.py", 7],
}


def packed(plans: list[plan_pb2.LaunchPlan] | None = None, /, **changed: Any) -> memoryview:
    """A trace with a header that differs in some fields."""
    parts = [call.SerializeToString() for call in plans or []]
    return memoryview(capture_trace.pack({**HEADER, **changed}, b"", parts) + bytes(100))


def test_what_was_written_is_read() -> None:
    """All that a capture tells arrives."""
    plan = plan_pb2.LaunchPlan(operations=[plan_pb2.Operation(fill=plan_pb2.Fill(buffer=1, size_bytes=4))])
    trace = capture_trace.read(packed([plan_pb2.LaunchPlan(), plan]))
    assert trace.buffers[0] == capture_trace.Buffer(4000, True, 0, "x")
    assert trace.calls[1].plan.operations[0].fill.buffer == 1
    assert trace.foreign == [capture_trace.Foreign("torch.softmax", "_softmax", "kernel.py:3")]
    assert (trace.limitations, trace.notes, trace.properties) == (["one"], ["two"], {"warp_size": 64})
    assert trace.fault == capture_trace.Fault("exception", "ValueError: no", "kernel.py", 7)
    assert trace.ended


def test_reads_have_sources() -> None:
    """The first results of a call are what it read, the others what it returned."""
    call = {**EMPTY_CALL, "reads": [[0, "item", False]]}
    plan = plan_pb2.LaunchPlan(results=[plan_pb2.Result(buffer=5), plan_pb2.Result(buffer=6)])
    trace = capture_trace.read(packed([plan], calls=[call]))
    assert [one.buffer for one in trace.calls[0].read_sources] == [5]
    assert [one.buffer for one in trace.calls[0].plan.results] == [6]
    assert trace.unanswered


@pytest.mark.parametrize(("start", "begun"), [(b"\0\0\0\0", False), (capture_trace.BEGUN, True)])
def test_a_run_that_left_nothing(start: bytes, begun: bool) -> None:
    """A process that was killed leaves no trace; whether it had begun with the candidate shows."""
    trace = capture_trace.read(memoryview(start + bytes(100)))
    assert (trace.begun, trace.ended, trace.calls) == (begun, False, [])


@pytest.mark.parametrize(
    "changed",
    [
        {"buffers": [[-1, True, 0, "x"]]},
        {"buffers": [[1, True, 0]]},
        {"buffers": [[1, True, 0, 7]]},
        {"buffers": [[1, False, 0, ""]] * 5000},
        {"buffers": {}},
        {"calls": [EMPTY_CALL] * 4},
        {"calls": [{}]},
        {"calls": [{**EMPTY_CALL, "first_buffer": 9}]},
        {"calls": [{**EMPTY_CALL, "reads": [[0, "item", True]]}]},
        {"calls": [{**EMPTY_CALL, "reads": 3}]},
        {"foreign": [["a", "b"]]},
        {"limitations": [None]},
        {"properties": {"a": 1 << 64}},
        {"properties": {"a": True}},
        {"fault": ["exception", "", "", -1]},
        {"fault": "no"},
    ],
)
def test_headers_that_nobody_writes(changed: dict[str, Any]) -> None:
    """Every field is checked before it is used."""
    with pytest.raises(capture_trace.Malformed):
        capture_trace.read(packed([plan_pb2.LaunchPlan()], **changed))


@pytest.mark.parametrize(
    "data",
    [
        b"KVTX" + bytes(40),
        struct.pack("<4s5I", capture_trace.MAGIC, 1 << 30, 0, 0, 0, 0),
        struct.pack("<4s5I", capture_trace.MAGIC, 2, 0, 0, 0, 0) + b"[]",
        struct.pack("<4s5I", capture_trace.MAGIC, 3, 0, 0, 0, 0) + b"{,}",
        struct.pack("<4s5I", capture_trace.MAGIC, 40_000, 0, 0, 0, 0) + b"[" * 40_000,
    ],
)
def test_bytes_that_are_no_trace(data: bytes) -> None:
    """Lengths and JSON are checked, too."""
    with pytest.raises(capture_trace.Malformed):
        capture_trace.read(memoryview(data + bytes(64)))


def test_calls_that_are_no_plans() -> None:
    """A call that is no message, and a launch of a kernel that is not there, are refused."""
    data = capture_trace.pack(HEADER, b"", [b"\xff\xff"])
    with pytest.raises(capture_trace.Malformed):
        capture_trace.read(memoryview(data))
    launch = plan_pb2.Launch(kernel=0)
    launch.alternatives.add(kernel=1)
    plan = plan_pb2.LaunchPlan(operations=[plan_pb2.Operation(launch=launch)])
    with pytest.raises(capture_trace.Malformed, match="a launch of a kernel that is not there"):
        capture_trace.read(packed([plan]))
