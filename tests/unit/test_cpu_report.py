"""What is said about a CPU replay's findings and counters."""

from __future__ import annotations

import struct

import pytest

from kernelvault.replay import cpu_report
from kernelvault.v1 import compiler_pb2, plan_pb2
from svc_compiler.hip import image

Kind = compiler_pb2.Finding.Kind
WHO = "thread (2, 3, 0) of block (1, 0, 0)"


def plan() -> plan_pb2.LaunchPlan:
    """A launch of a block of 8 x 8 threads on one buffer."""
    message = plan_pb2.LaunchPlan(case_id="c")
    message.buffers.add(size_bytes=16, role=plan_pb2.Buffer.OUTPUT)
    message.kernels.add(name="_Z1kv", display_name="k")
    launch = message.operations.add(phase=plan_pb2.Operation.CALL).launch
    launch.block.CopyFrom(plan_pb2.Extent(x=8, y=8, z=1))
    return message


def raw(kind: int, **values: object) -> cpu_report.RawFinding:
    """A finding in global memory, other values as given."""
    defaults: dict[str, object] = {
        "operation": 0,
        "block": (1, 0, 0),
        "thread": (2, 3, 0),
        "space": 0,
        "object": 0,
        "offset": 16,
        "name": "",
        "object_size": 16,
        "code": 64,
        "size": 4,
        "write": True,
        "other_thread": 9,
        "other_same_block": True,
        "other_write": True,
    }
    return cpu_report.RawFinding(kind=kind, **{**defaults, **values})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("finding", "message"),
    [
        (
            raw(Kind.OUT_OF_BOUNDS),
            f"{WHO} writes 4 bytes at byte 16 of the output buffer 'output 0', which has 16 bytes",
        ),
        (
            raw(Kind.RACE, space=1, name="_ZZ1kvE4tile", offset=8, write=False),
            f"{WHO} reads 4 bytes at byte 8 of the shared variable 'tile' that thread "
            "(1, 1, 0) of the same block wrote, with no barrier to order them",
        ),
        (
            raw(Kind.RACE, other_same_block=False, other_write=False),
            f"{WHO} writes 4 bytes at byte 16 of the output buffer 'output 0' that a thread "
            "of another block read, with nothing to order them",
        ),
        (
            raw(Kind.UNINITIALIZED_READ, space=2, write=False, offset=0),
            f"{WHO} reads 4 bytes at byte 0 of the dynamic shared memory, which nobody has written",
        ),
        (
            raw(Kind.RACE, other_thread=26, other_write=False),
            f"{WHO} writes 4 bytes at byte 16 of the output buffer 'output 0' that another thread "
            "of the same block read, with no barrier to order them",
        ),
        (
            raw(Kind.UNINITIALIZED_READ, offset=0),
            f"{WHO} changes 4 bytes with an atomic at byte 0 of the output buffer 'output 0', which nobody has written",
        ),
        (
            raw(Kind.HOST_POINTER, space=4, offset=8),
            f"{WHO} writes 4 bytes through a null pointer (address 0x8)",
        ),
        (
            raw(Kind.DIVERGENT_BARRIER, space=4, write=False),
            f"{WHO} waits at a barrier while thread (1, 1, 0) of the same wave waits at another barrier",
        ),
    ],
)
def test_finding_in_words(finding: cpu_report.RawFinding, message: str) -> None:
    """Who did what, where, and with whom."""
    described = cpu_report.describe(finding, plan(), {64: ("kernel.hip:3",)})
    assert described.message == message
    assert (described.kernel, described.location, described.case_id) == ("k", "kernel.hip:3", "c")


def test_forged_report_is_bounded() -> None:
    """Counts, kinds and operations that make no sense lead to no finding and no error."""
    data = bytearray(cpu_report.REPORT_BYTES)
    struct.pack_into("<IIiI", data, 0, 1 << 31, 1 << 31, 99, 1 << 31)
    report = cpu_report.read(bytes(data))
    assert report.findings == []
    described = cpu_report.describe(raw(Kind.RACE, operation=7, object=99), plan(), {})
    assert described.kernel == ""


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZZ6matmulPfE4tile", "tile"),
        ("_ZZ3redIfEvPKT_PS0_iE1s", "s"),
        ("_ZN2ns5tableE", "table"),
        ("_ZL4sdev", "sdev"),
        ("plain", "plain"),
    ],
)
def test_name_of_a_variable(symbol: str, name: str) -> None:
    """The last identifier of a mangled symbol."""
    assert cpu_report.plain_name(symbol) == name


def test_location_prefers_the_candidates_own_file() -> None:
    """A fault in an inlined function of a header is shown where the candidate called it, and who called that."""
    text = (
        '[{"Symbol":[{"FileName":"/usr/include/hip/x.h","Line":9},{"FileName":"./kernel.hip","Line":4},'
        '{"FileName":"./kernel.hip","Line":9}]},'
        '{"Symbol":[{"FileName":"","Line":0}]}]'
    )
    assert image.locations(text, [16, 32]) == {16: ("kernel.hip:4", "kernel.hip:9")}


def test_callers_of_an_inlined_function_are_told() -> None:
    """A fault in a helper has the helper's line, and says who called it."""
    described = cpu_report.describe(raw(Kind.OUT_OF_BOUNDS, code=64), plan(), {64: ("k.hip:3", "k.hip:9", "k.hip:20")})
    assert described.location == "k.hip:3"
    assert described.message.endswith("bytes, called from k.hip:9, k.hip:20")


def test_race_of_two_streams_names_both_kernels() -> None:
    """Where nothing orders two operations, both are named, with the buffer."""
    two = plan()
    two.kernels.add(name="other", display_name="other(float*)")
    two.operations.add().launch.kernel = 1
    finding = raw(Kind.RACE, operation=1, space=0, object=0, other_operation=0, other_write=True)
    message = cpu_report.describe(finding, two, {}).message
    assert message.startswith("the kernel other(float*), in thread")
    first = two.kernels[0].display_name or two.kernels[0].name
    assert f"that the kernel {first} wrote on another stream, with no event or synchronisation" in message
