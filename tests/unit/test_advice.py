"""What a profile advises, by the numbers that lead to it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from kernelvault import devices
from kernelvault.v1 import plan_pb2, profiler_pb2
from svc_profiler import advice, roofline
from svc_profiler.roofline import Counters, Work

CaseEstimate = profiler_pb2.Profile.CaseEstimate
KernelEstimate = profiler_pb2.Profile.KernelEstimate
MI300X = devices.of("MI300X")
GOOD = Work(
    name="k",
    resources=plan_pb2.Resources(vgprs=32, sgprs=16, instructions={"global_load_b128": 2, "global_store_b128": 1}),
    counters=Counters(
        global_read_bytes=1 << 29,
        global_write_bytes=1 << 28,
        global_transaction_bytes=3 << 28,
        coalescing=1.0,
        unique_bytes=3 << 28,
    ),
    blocks=304 * 64,
    threads=256,
    dynamic_lds_bytes=0,
)


def advised(
    counters: Mapping[str, object] = {},
    resources: Mapping[str, object] = {},
    **changes: object,
) -> str:
    """The advice for a single launch that differs from a good one."""
    work = dataclasses.replace(GOOD, counters=Counters(), resources=plan_pb2.Resources(), **changes)  # type: ignore[arg-type]
    work.counters.CopyFrom(GOOD.counters)
    work.resources.CopyFrom(GOOD.resources)
    for name, value in counters.items():
        setattr(work.counters, name, value)
    for name, value in resources.items():
        if name == "instructions":
            work.resources.instructions.clear()
            work.resources.instructions.update(value)  # type: ignore[arg-type]
        else:
            setattr(work.resources, name, value)
    kernel = roofline.estimate(work, MI300X)
    case = CaseEstimate(case_id="large", time_ns=kernel.time_ns, floor_ns=kernel.time_ns / 2, kernels=[kernel])
    return advice.of_case(case, [work], MI300X, [])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"counters": {"coalescing": 0.06, "global_transaction_bytes": 48 << 28}}, "coalescing is 6%"),
        ({"counters": {"global_transaction_bytes": 30 << 28}}, "each byte is fetched 10 times through the caches"),
        ({"counters": {"atomics": 1 << 30}}, "atomic operations: reduce within a wave"),
        ({"counters": {"atomics": 9000, "hottest_atomic": 8000}}, "8000 atomic operations go to one word"),
        ({"counters": {"active_lanes": 0.25}}, "of the lanes that waves pay for 25% work"),
        ({"resources": {"spilled_registers": 12, "scratch_bytes": 64}}, "12 registers are spilled and 64 bytes"),
        ({"resources": {"instructions": {"global_load_b32": 4}}}, "move 16 bytes at once"),
        ({"blocks": 60}, "60 blocks leave 244 of 304 compute units idle"),
        ({"blocks": 320}, "320 blocks on 304 compute units leave the last round 5% full"),
        ({"resources": {"vgprs": 256}}, "2 of 8 waves a SIMD are resident, limited by 256 vector registers"),
        ({"dynamic_lds_bytes": 40 << 10}, "1 of 8 waves a SIMD are resident, limited by 40960 bytes of LDS"),
        (
            {"counters": {"lds_read_bytes": 1 << 36, "lds_conflict_ratio": 7.0}},
            "LDS bank conflicts add 700% of passes: pad rows",
        ),
    ],
)
def test_rules(changes: dict[str, object], expected: str) -> None:
    """Each weakness is named with its number and a remedy."""
    assert expected in advised(**changes)  # type: ignore[arg-type]


def test_nothing_to_mend_is_said() -> None:
    """A kernel that only moves its bytes is told so, without a list."""
    text = advised()
    assert "moves little more than it must" in text
    assert "Try first" not in text


def test_matrix_units_are_named_where_arithmetic_bounds() -> None:
    """A tiled product on the vector units is sent to the matrix units."""
    mix = {"global_load_b128": 2, "lds_load_b128": 8, "fma_f32": 64}
    text = advised(counters={"lds_read_bytes": 1 << 34}, resources={"instructions": mix})
    assert "bound by arithmetic" in text
    assert "the matrix units do them many times faster" in text


def test_many_small_launches_are_to_be_fused() -> None:
    """Where starting kernels takes a quarter of the time, fusion comes first."""
    kernels = [KernelEstimate(name="k", time_ns=5_000, bound="launch")] * 6
    case = CaseEstimate(case_id="small", time_ns=30_000, floor_ns=100, kernels=kernels)
    text = advice.of_case(case, [GOOD] * 6, MI300X, [])
    assert "6 operations on the device, 6 of them kernels, cost about 24 µs to start: fuse them" in text


def test_copies_are_named() -> None:
    """Conversions outside kernels that take a tenth of the time are named."""
    move = KernelEstimate(name="convert", time_ns=50_000, bound="memory")
    kernel = KernelEstimate(name="k", time_ns=50_000, bound="memory")
    case = CaseEstimate(case_id="strided", time_ns=100_000, floor_ns=40_000, kernels=[kernel, move])
    assert "read strided inputs in the kernel" in advice.of_case(case, [GOOD], MI300X, [move])


def test_the_floor_is_named() -> None:
    """A case near its floor is not sent on a chase."""
    kernel = KernelEstimate(name="k", time_ns=100_000, bound="memory")
    case = CaseEstimate(case_id="large", time_ns=100_000, floor_ns=80_000, kernels=[kernel])
    text = advice.of_case(case, [GOOD], MI300X, [])
    assert "100 µs modelled on MI300X, 80% of what its bytes allow (80 µs)" in text
    assert "close to the floor" in text


def test_notes_are_said_once() -> None:
    """A remark that every case makes stands once, at the end."""
    assert advice.of_plan(["a", "b"], ["n", "n"]) == "a\n\nb\n\nNote: n"
