"""What an interpreted replay says of itself: only what is whole is believed, and the words are ours."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelvault.replay.triton import report as reports
from kernelvault.replay.triton import support
from kernelvault.replay.triton.report import Kind, RawFinding, Report
from kernelvault.replay.triton.wording import Wording
from kernelvault.v1 import plan_pb2, profiler_pb2
from tests.triton_programs import FILE, program

TEXT = """
def helper(p):
    return tl.load(p)

def kernel(x, y):
    tl.store(y, helper(x))
"""
RAW = RawFinding(
    kind=Kind.OUT_OF_BOUNDS,
    operation=0,
    program=(1, 2, 0),
    file=FILE,
    line=3,
    buffer=0,
    access=0,
    count=24,
    lanes=128,
    width=4,
    offset=4000,
)


def packed(report: Report, **changes: Any) -> bytes:
    """A report as a child writes it, with parts of its body replaced."""
    body = json.dumps(json.loads(report.pack()) | changes).encode()
    return reports.HEADER.pack(report.status, report.operation, len(body)) + body


def finding(**changes: Any) -> bytes:
    """A report of one finding, with parts of it replaced."""
    entry = json.loads(Report(findings=[RAW]).pack())["findings"][0]
    return packed(Report(reports.FINISHED), findings=[entry | changes])


def plan() -> plan_pb2.LaunchPlan:
    """One launch of a kernel on two buffers."""
    launch = plan_pb2.Launch(grid=plan_pb2.Extent(x=4, y=4, z=1))
    return plan_pb2.LaunchPlan(
        case_id="case",
        kernels=[plan_pb2.Kernel(name="kernel_0", display_name="kernel[B=4]")],
        buffers=[
            plan_pb2.Buffer(name="x", role=plan_pb2.Buffer.INPUT, size_bytes=4000),
            plan_pb2.Buffer(role=plan_pb2.Buffer.OUTPUT, size_bytes=4),
        ],
        operations=[plan_pb2.Operation(launch=launch)],
    )


def wording() -> Wording:
    """Of the plan and the program of TEXT."""
    return Wording(plan(), program(TEXT, "kernel", {"x": "*fp32", "y": "*fp32"}))


def test_a_report_comes_back() -> None:
    """What was packed is read."""
    counters = profiler_pb2.Profile.Counters(global_read_bytes=5)
    whole = Report(reports.ASSERTED, 3, "why", FILE, 2, [RAW], {3: counters}, {1})
    assert reports.read(packed(whole)) == whole


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": 0},
        {"kind": 999},
        {"access": 3},
        {"width": 0},
        {"width": 3},
        {"count": "1"},
        {"count": 1 << 70},
        {"program": [1, 2]},
        {"file": 7},
    ],
)
def test_broken_findings_void_the_report(changes: dict[str, Any]) -> None:
    """A finding that is not whole is not believed, nor is what stands beside it."""
    assert reports.read(finding(**changes)) == Report(reports.FINISHED)


def test_texts_are_plain_and_short() -> None:
    """Control characters and further lines go, and what is too long is cut off."""
    text = reports.read(packed(Report(), text="a\x1b[31m\nb" + "c" * 1000)).text
    assert text.startswith("a[31m b")
    assert len(text) <= reports.MAX_TEXT


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(data: bytes) -> None:
    """Nothing that a child writes raises."""
    reports.read(reports.HEADER.pack(1, 2, len(data)) + data)


def test_out_of_bounds_in_words() -> None:
    """Kernel, program, line, buffer, lanes and distance are told."""
    told = wording().describe(RAW)
    assert told.message == (
        "program (1, 2, 0) reads out of bounds: 24 of 128 lanes, the first 1 element past the end of "
        "the input buffer 'x' (1000 elements)"
    )
    assert (told.kernel, told.location, told.buffer) == ("kernel[B=4]", f"{FILE}:3", "x")
    assert (told.block.x, told.block.y, told.block.z) == (1, 2, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"offset": -8}, "the first 2 elements before the start of the input buffer 'x'"),
        ({"kind": Kind.RACE, "offset": 12, "other": 6, "access": 1, "other_access": 1}, "program (2, 1, 0) wrote"),
        ({"kind": Kind.RACE, "other": -1}, "lanes of one store of program (1, 2, 0) write different values"),
        ({"kind": Kind.HOST_POINTER, "buffer": -1}, "no device memory: 24 of 128 lanes"),
        ({"kind": Kind.MISALIGNED, "offset": 2}, "the first at byte 2 of the input buffer 'x'"),
        ({"kind": Kind.UNINITIALIZED_READ, "buffer": 1}, "of the output buffer 'output 0'"),
        ({"buffer": 77}, "device memory"),
    ],
)
def test_findings_in_words(changes: dict[str, Any], words: str) -> None:
    """Each kind has its own words, whatever the numbers are."""
    [raw] = reports.read(finding(**{name: int(value) for name, value in changes.items()})).findings
    assert words in wording().describe(raw).message


@pytest.mark.parametrize(("file", "line"), [(FILE, 1000), ("/etc/passwd", 3), (FILE, -1)])
def test_places_elsewhere_are_not_told(file: str, line: int) -> None:
    """A place that is no line of the program's functions is left out."""
    [raw] = reports.read(finding(file=file, line=line)).findings
    assert wording().describe(raw).location == ""


def test_what_a_function_of_the_kernel_lacks() -> None:
    """An obstacle in a function that the kernel calls is told with that function's line."""
    text = TEXT.replace("return tl.load(p)", "return tl.inline_asm_elementwise('', '', [p], tl.int32, True, 1)")
    made = program(text, "kernel", {"x": "*fp32", "y": "*fp32"})
    assert support.of_variant(made, made.variants[0]) == (f"{FILE}:3: ", "inline assembly")
    assert support.of_variant(program(TEXT, "kernel", {"x": "*fp32", "y": "*fp32"}), made.variants[0]) is None


@pytest.mark.parametrize(
    ("loop", "waits"),
    [
        ("while tl.atomic_cas(x, 0, 1) == 1:\n        y += 1", True),
        ("while tl.load(x) != 1:\n        y += 1", True),
        ("while y > 0:\n        y = tl.atomic_cas(x, 0, 1)", True),
        ("while y < 9:\n        y = tl.atomic_add(x, 1)", False),
        ("while y < 9:\n        y += tl.load(x)", False),
    ],
)
def test_loops_that_wait(loop: str, *, waits: bool) -> None:
    """A loop that asks memory until another program changes it needs a GPU; one that takes work from it does not."""
    made = program(f"\ndef kernel(x, y):\n    {loop}\n", "kernel", {"x": "*i32", "y": "i32"})
    assert (support.of_variant(made, made.variants[0]) is not None) is waits


def test_types_that_only_hardware_has() -> None:
    """A parameter of a fnuz type needs a GPU."""
    made = program("\ndef kernel(x):\n    tl.store(x, tl.load(x))\n", "kernel", {"x": "*fp8e4b8"})
    place, what = support.of_variant(made, made.variants[0]) or ("", "")
    assert place == ""
    assert "fnuz" in what
