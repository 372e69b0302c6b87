"""The modelled time of launches, against numbers computed by hand."""

from __future__ import annotations

import dataclasses

import pytest

from kernelvault import devices
from kernelvault.v1 import plan_pb2
from svc_profiler import roofline
from svc_profiler.roofline import Counters, Work

MI300X = devices.of("MI300X")
ADD = {"global_load_b32": 2, "global_store_b32": 1, "float": 1, "valu": 6}


def work(**changes: object) -> Work:
    """An addition of 64 Mi floats: 3 * 256 MiB, all coalesced, one element a thread."""
    count = 64 << 20
    counters = Counters(
        global_read_bytes=8 * count,
        global_write_bytes=4 * count,
        global_transaction_bytes=12 * count,
        coalescing=1.0,
        unique_bytes=12 * count,
        blocks=count // 256,
        sampled_blocks=16,
    )
    base = Work(
        name="add",
        resources=plan_pb2.Resources(vgprs=8, sgprs=14, instructions=ADD),
        counters=counters,
        blocks=count // 256,
        threads=256,
        dynamic_lds_bytes=0,
    )
    return dataclasses.replace(base, **changes)  # type: ignore[arg-type]


def counted(base: Work, **changes: object) -> Work:
    """The same launch with other counters."""
    counters = Counters()
    counters.CopyFrom(base.counters)
    for name, value in changes.items():
        setattr(counters, name, value)
    return dataclasses.replace(base, counters=counters)


def test_a_stream_is_bound_by_memory() -> None:
    """805 MB at four fifths of 5.3 TB/s take 190 µs, and a launch 4 µs."""
    found = roofline.estimate(work(), MI300X)
    assert found.bound == "memory"
    assert found.time_ns == pytest.approx(805_306_368 / (0.8 * 5.3e12) * 1e9 + 4_000, rel=1e-6)
    assert (found.occupancy_waves, found.occupancy_limit) == (8, "waves")


def test_faster_memory_is_faster() -> None:
    """The devices rank by their published bandwidth on a stream."""
    times = [roofline.estimate(work(), devices.of(name)).time_ns for name in ("MI250X", "MI300X", "MI325X", "MI355X")]
    assert times == sorted(times, reverse=True)


def test_scattered_accesses_cost_their_segments() -> None:
    """A segment of 64 bytes for each float: the caches move 16 times as much and bound it."""
    scattered = counted(
        work(), global_transaction_bytes=16 * work().counters.global_transaction_bytes, coalescing=1 / 16
    )
    found = roofline.estimate(scattered, MI300X)
    busy = (64 << 20) // 256 / (863 * 304)
    rate = min(MI300X.l1_bytes_per_s * busy, MI300X.l2_bytes_per_s)
    assert found.bound == "memory"
    assert found.time_ns == pytest.approx(16 * 805_306_368 / rate * 1e9 + 4_000, rel=1e-6)


def test_bytes_beyond_the_buffers_are_not_believed() -> None:
    """Scaling up sampled blocks counts shared bytes many times; the launch's buffers bound them."""
    assert roofline.unique_bytes(work(reachable_bytes=1 << 20)) == 1 << 20


def test_a_short_launch_is_bound_by_launching() -> None:
    """A kilobyte takes no time; the launch does."""
    tiny = counted(work(blocks=1), unique_bytes=1024, global_transaction_bytes=1024, global_read_bytes=512)
    assert roofline.estimate(tiny, MI300X).bound == "launch"


def test_few_waves_are_bound_by_latency() -> None:
    """One block of 256 threads has 2 KiB under way at once, 800 ns each time."""
    bytes_ = {"unique_bytes": 1 << 24, "global_transaction_bytes": 1 << 24, "global_read_bytes": 1 << 24}
    lonely = counted(work(blocks=1), global_write_bytes=0, **bytes_)
    found = roofline.estimate(lonely, MI300X)
    assert found.bound == "latency"
    assert found.time_ns > (1 << 24) / (256 * 8) * 800


def test_matrix_operations_run_at_their_type_s_rate() -> None:
    """A product of 2^40 operations: f8 takes half the time of f16, f32 eight times."""
    times = {}
    for kind in ("f8", "f16", "f32"):
        mix = plan_pb2.Resources(vgprs=64, instructions={f"mfma_{kind}": 16})
        product = counted(work(resources=mix, blocks=304 * 8), matrix_flops=1 << 40, unique_bytes=1 << 20)
        found = roofline.estimate(product, MI300X)
        assert found.bound == "compute"
        times[kind] = found.time_ns - roofline.LAUNCH_NS
    assert times["f16"] / times["f8"] == pytest.approx(2, rel=0.01)
    assert times["f32"] / times["f16"] == pytest.approx(8, rel=0.01)


def test_matrix_operations_are_weighed_by_counts() -> None:
    """Where each type's operations were counted, how often the code names it says nothing; int8 runs as f8."""
    mix = plan_pb2.Resources(vgprs=64, instructions={"mfma_f16": 1, "mfma_f8": 15})
    product = counted(work(resources=mix, blocks=304 * 8), unique_bytes=1 << 20, matrix_flops=3 << 40)
    product.counters.matrix_flops_by_type.update({"f16": 1 << 40, "i8": 2 << 40})
    alike = counted(product, matrix_flops=0)
    alike.counters.matrix_flops_by_type.clear()
    alike.counters.matrix_flops_by_type["f16"] = 2 << 40
    times = [roofline.estimate(item, MI300X).time_ns for item in (product, alike)]
    assert times[0] == pytest.approx(times[1], rel=1e-3)


def test_rounded_factors_run_at_their_rate() -> None:
    """Factors of 32 bits that the code multiplies as xf32 alone take a quarter of the time."""
    times = []
    for kind in ("f32", "xf32"):
        mix = plan_pb2.Resources(vgprs=64, instructions={f"mfma_{kind}": 16})
        product = counted(work(resources=mix, blocks=304 * 8), unique_bytes=1 << 20, matrix_flops=1 << 44)
        product.counters.matrix_flops_by_type["f32"] = 1 << 44
        times.append(roofline.estimate(product, MI300X).time_ns - roofline.LAUNCH_NS)
    assert times[0] / times[1] == pytest.approx(4, rel=0.01)


def test_idle_units_stretch_arithmetic() -> None:
    """One block more than there are units takes twice as long as one fewer."""
    mix = plan_pb2.Resources(vgprs=64, instructions={"mfma_f16": 16})
    times = []
    for blocks in (304, 305):
        product = work(resources=mix, blocks=blocks)
        product = counted(product, matrix_flops=10**9 * blocks, unique_bytes=1, global_transaction_bytes=1)
        times.append(roofline.estimate(product, MI300X).time_ns - roofline.LAUNCH_NS)
    assert times[1] / times[0] == pytest.approx(2, rel=0.02)


def test_loops_are_weighed_by_their_loads() -> None:
    """A loop whose two loads read 8 bytes a lane and pass ran 1024 times where 8 KiB a thread were read."""
    mix = plan_pb2.Resources(vgprs=32, instructions={"global_load_b32": 2, "fma_f32": 1, "transcendental": 1})
    looped = counted(work(resources=mix, blocks=16), global_read_bytes=16 * 256 * 8192)
    assert roofline.vector_instructions(looped) == 16 * 256 * 1024 * (1 + 4)


def test_conflicts_lengthen_lds() -> None:
    """A conflict ratio of 1 doubles the time that LDS needs."""
    base = counted(work(), lds_read_bytes=1 << 38, unique_bytes=1, global_transaction_bytes=1)
    twice = counted(base, lds_conflict_ratio=1.0)
    times = [roofline.estimate(item, MI300X).time_ns - roofline.LAUNCH_NS for item in (base, twice)]
    assert times[1] / times[0] == pytest.approx(2, rel=0.01)
    assert roofline.estimate(twice, MI300X).bound == "lds"


def test_one_wave_hides_nothing() -> None:
    """Where a SIMD holds one wave, its terms add up; with eight they overlap."""
    mix = {"mfma_f16": 16, "global_load_b128": 4}
    narrow = plan_pb2.Resources(vgprs=512, instructions=mix)
    wide = plan_pb2.Resources(vgprs=32, instructions=mix)
    flops = int(100e-6 * 1307.4e12)
    times = [
        roofline.estimate(counted(work(resources=made), matrix_flops=flops), MI300X).time_ns for made in (narrow, wide)
    ]
    assert times[0] > times[1] + 90_000


def test_atomics_are_limited_by_channels() -> None:
    """128 channels of L2 do one operation each a clock."""
    base = counted(work(), atomics=10**9, unique_bytes=1, global_transaction_bytes=1, global_read_bytes=0)
    assert roofline.estimate(base, MI300X).time_ns > 10**9 / (128 * 2.1e9) * 1e9


def test_atomics_on_one_line_queue() -> None:
    """A sum into a single number is done by one channel."""
    base = counted(work(writable_bytes=4), atomics=10**6, unique_bytes=1, global_transaction_bytes=1)
    base = counted(base, global_read_bytes=0, global_write_bytes=0)
    found = roofline.estimate(base, MI300X)
    assert found.bound == "memory"
    assert found.time_ns > 10**6 / 2.1e9 * 1e9


def test_atomics_on_one_word_queue() -> None:
    """However many channels there are; those on LDS are none of theirs."""
    base = counted(work(), atomics=10**6, hottest_atomic=10**6, unique_bytes=1, global_transaction_bytes=1)
    assert roofline.estimate(base, MI300X).time_ns > 10**6 / 2.1e9 * 1e9
    local = counted(base, lds_atomics=10**6, hottest_atomic=0)
    assert roofline.estimate(local, MI300X).time_ns < roofline.estimate(base, MI300X).time_ns / 10


def test_lanes_that_update_one_word_of_lds_queue() -> None:
    """Each takes a clock of its compute unit."""
    base = counted(work(), atomics=1 << 40, lds_atomics=1 << 40, unique_bytes=1, global_transaction_bytes=1)
    queued = counted(base, lds_atomic_repeats=63 << 34)
    times = [roofline.estimate(item, MI300X).time_ns - roofline.LAUNCH_NS for item in (base, queued)]
    assert times[1] / times[0] == pytest.approx(1 + 63 / 64 * 128 / 4, rel=0.02)


def test_counted_operations_take_time() -> None:
    """By width, with special ones four times as long, and as if all lanes of a wave were on."""
    base = counted(work(), unique_bytes=1, global_transaction_bytes=1)
    flops = int(163.4e12 * 1e-3)

    def time_ns(**changes: float) -> float:
        return roofline.estimate(counted(base, **changes), MI300X).time_ns - roofline.LAUNCH_NS

    single = time_ns(vector_flops=flops)
    assert single == pytest.approx(1e6, rel=0.05)
    assert time_ns(vector_flops=flops, half_flops=flops) == pytest.approx(single, rel=0.01)
    assert time_ns(vector_flops=flops, double_flops=flops) == pytest.approx(2 * single, rel=0.05)
    assert time_ns(vector_flops=flops, active_lanes=0.5) == pytest.approx(2 * single, rel=0.01)
    assert time_ns(special_operations=flops // 4) == pytest.approx(4 * single, rel=0.05)
