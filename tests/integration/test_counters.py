"""What the CPU model counts, on kernels whose counts are known by hand."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from kernelvault.replay import cpu_model
from kernelvault.sandbox import Sandbox
from kernelvault.v1 import profiler_pb2
from svc_compiler.hip.toolchain import Toolchain
from tests.cpu_model import PROGRAMS, Program, compile_program

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]
PREFIX = Path(os.environ.get("KERNELVAULT_TOOLCHAIN", "~/.cache/kernelvault/toolchain"))
F32, F64, I32 = np.float32, np.float64, np.int32
Counters = profiler_pb2.Profile.Counters
Count = Callable[..., Any]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def program(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Program]:
    """The kernels of counted.hip."""
    folder = tmp_path_factory.mktemp("counted")
    sandbox = await Sandbox.start(preload=cpu_model.PRELOAD)
    toolchain = Toolchain.find(PREFIX, folder / "cache")
    yield await compile_program(
        sandbox, toolchain, folder / "it", PROGRAMS / "counted.hip", cpu_model.CpuModel(sandbox)
    )
    await sandbox.close()


@pytest.fixture
def count(program: Program, tmp_path: Path) -> Count:
    """Replays one launch on a sample of its blocks: inputs by name, then the output; what was counted."""

    async def run(
        kernel: str,
        inputs: dict[str, np.ndarray],
        out: np.ndarray,
        *scalars: np.generic,
        grid: Any = 1,
        block: Any = 64,
        sample: int = 4,
    ) -> Counters:
        plan = program.plan({**inputs, "out": out}, list(inputs), ["out"])
        plan.launch(kernel, *inputs, "out", *scalars, grid=grid, block=block)
        done = await plan.replay(tmp_path, sample_blocks=sample)
        assert done.fault is None, done.fault
        (counters,) = done.counters
        return counters

    return run


def ones(*shape: int, dtype: type = F32) -> np.ndarray:
    return np.ones(shape, dtype)


async def test_a_sum_of_vectors(count: Count) -> None:
    """Bytes, lines, distinct bytes and operations, from a sample of the blocks."""
    a = ones(1 << 16)
    counters = await count("vadd", {"a": a, "b": a}, a, I32(a.size), grid=256, block=256, sample=8)
    assert (counters.blocks, counters.sampled_blocks) == (256, 8)
    assert (counters.global_read_bytes, counters.global_write_bytes) == (2 * a.nbytes, a.nbytes)
    assert counters.global_transaction_bytes == counters.global_line_bytes == counters.unique_bytes == 3 * a.nbytes
    assert (counters.coalescing, counters.active_lanes) == (1, 1)
    assert (counters.vector_flops, counters.special_operations, counters.atomics) == (a.size, 0, 0)


async def test_vectors_are_one_access(count: Count) -> None:
    """A `float4` is one access of 16 bytes, however x86-64 loads it."""
    a = ones(4096, 4)
    counters = await count("vectors", {"a": a}, a, I32(4096), grid=16, block=256)
    assert (counters.global_transaction_bytes, counters.coalescing) == (2 * a.nbytes, 1)


@pytest.mark.parametrize(("stride", "segments", "lines"), [(1, 4, 2), (8, 32, 16), (16, 64, 32), (32, 64, 64)])
async def test_strides_waste_lines(count: Count, stride: int, segments: int, lines: int) -> None:
    """A wave reads as many lines of 64 or 128 bytes as its lanes touch; it writes 256 bytes in a row."""
    counters = await count("strided", {"a": ones(64 * stride)}, ones(64), I32(stride))
    assert counters.global_transaction_bytes == 64 * (segments + 4)
    assert counters.global_line_bytes == 128 * (lines + 2)
    assert counters.coalescing == pytest.approx(512 / (64 * (segments + 4)))


@pytest.mark.parametrize(("kernel", "ratio"), [("transpose_plain", 31 / 2), ("transpose_padded", 0)])
async def test_columns_of_lds_conflict(count: Count, kernel: str, ratio: float) -> None:
    """32 lanes that read a column meet in one bank, unless rows are padded: 31 extra passes for every two."""
    a = ones(64, 64)
    counters = await count(kernel, {"a": a}, a, I32(64), grid=(2, 2), block=(32, 32))
    assert counters.lds_conflict_ratio == pytest.approx(ratio)


@pytest.mark.parametrize(("kernel", "width"), [("neighbours8", 2), ("neighbours16", 4)])
async def test_wide_accesses_of_neighbours_do_not_conflict(count: Count, kernel: str, width: int) -> None:
    """LDS serves 8 bytes of 16 lanes and 16 bytes of 8 lanes at once."""
    counters = await count(kernel, {"a": ones(64, width)}, ones(64, width))
    assert counters.lds_read_bytes == 64 * 4 * width
    assert counters.lds_conflict_ratio == 0


async def test_phases_of_wide_reads(count: Count) -> None:
    """Reads of 16 bytes go by lanes 0 to 3 with 20 to 23, and so on: those may not share banks, neighbours may."""
    lanes = np.arange(64)
    # 16 bytes have one of eight places in the banks. Lanes 0 to 3 and 4 to 7 have the same, in different rows.
    paired = lanes // 4 % 8 * 8 + lanes % 4 + 4 * (lanes // 16 % 2)
    free = await count("wide_reads", {"places": paired.astype(I32)}, ones(64, 4))
    assert free.lds_conflict_ratio == 0
    # Each of the 8 phases reads 8 rows at one place; the 8 phases that wrote had no conflict.
    column = await count("wide_reads", {"places": (lanes % 8 * 8).astype(I32)}, ones(64, 4))
    assert column.lds_conflict_ratio == 8 * 7 / 16


async def test_a_product_in_tiles(count: Count) -> None:
    """LDS bytes, barriers, and two operations for each of n³ steps, although the loop is unrolled."""
    a = ones(64, 64)
    counters = await count("product", {"a": a, "b": a}, a, I32(64), grid=(4, 4), block=(16, 16), sample=2)
    assert counters.vector_flops == 2 * 64**3
    assert counters.lds_read_bytes == 2 * 4 * 64**3
    assert counters.lds_write_bytes == 2 * 4 * 64**2 * 4
    assert counters.barriers == 16 * 8
    assert (counters.lds_conflict_ratio, counters.active_lanes) == (0, 1)


async def test_operations_in_loops(count: Count) -> None:
    """Each round counts, a fused operation for two; an exponential and a division are special."""
    a = ones(256)
    counters = await count("rounds", {"a": a}, a, grid=4)
    assert (counters.vector_flops, counters.special_operations) == (256 * 10 * 2, 256 * 2)


async def test_operations_by_precision(count: Count) -> None:
    """Pairs of halves count twice; double precision counts by itself."""
    pairs = await count("halves", {"a": ones(64, 2, dtype=np.float16)}, ones(64, 2, dtype=np.float16))
    assert (pairs.vector_flops, pairs.half_flops, pairs.double_flops) == (64 * 4, 64 * 4, 0)
    assert pairs.packed_flops == pairs.half_flops
    doubles = await count("doubles", {"a": ones(64, dtype=F64)}, ones(64, dtype=F64))
    assert (doubles.vector_flops, doubles.double_flops, doubles.special_operations) == (64 * 3, 64 * 3, 64)


@pytest.mark.parametrize(("kernel", "active"), [("branch", 1 / 4), ("triangle", 1 / 2)])
async def test_divergence(count: Count, kernel: str, active: float) -> None:
    """Lanes that wait for the others of their wave, in a branch and in a loop of many lengths."""
    a = ones(512)
    counters = await count(kernel, {"a": a}, a, grid=2, block=256)
    assert counters.active_lanes == pytest.approx(active, rel=0.05)


async def test_a_wave_of_few_threads(count: Count) -> None:
    """A block of 16 threads pays for 64 lanes."""
    counters = await count("rounds", {"a": ones(16)}, ones(16), block=16)
    assert counters.active_lanes == 1 / 4


async def test_contention_of_atomics(count: Count) -> None:
    """All on one word; each on its own; in LDS first."""
    out = np.zeros(1024, I32)
    one = await count("one_counter", {}, out, grid=4, block=256)
    assert (one.most_lanes_on_a_word, one.most_lanes_on_a_word_of_lds) == (64, 0)
    assert (one.atomics, one.hottest_atomic, one.atomic_repeats, one.lds_atomics) == (1024, 1024, 1024 // 64 * 63, 0)
    own = await count("own_counters", {}, out, grid=4, block=256)
    assert (own.atomics, own.hottest_atomic, own.atomic_repeats) == (1024, 1, 0)
    bins = (np.arange(1024) % 16).astype(I32)
    mixed = await count("histogram", {"bins": bins}, out, I32(1024), grid=4, block=256)
    assert (mixed.atomics, mixed.lds_atomics) == (1024 + 64, 1024)
    assert (mixed.hottest_atomic, mixed.atomic_repeats) == (4, 1024 // 64 * 48)
    assert (mixed.lds_atomic_repeats, mixed.most_lanes_on_a_word_of_lds) == (mixed.atomic_repeats, 4)
    assert mixed.hottest_lds_atomic == 256 // 16


async def test_a_word_of_each_block_is_not_scaled(count: Count) -> None:
    """A word that one block alone goes to is as hot in a sample as in the launch; one of all is hotter."""
    out = np.zeros(16, I32)
    own = await count("counter_of_a_block", {}, out, grid=16, block=256)
    shared = await count("one_counter", {}, out, grid=16, block=256)
    assert (own.hottest_atomic, shared.hottest_atomic) == (256, 16 * 256)


async def test_matrix_operations_are_counted_apart(count: Count) -> None:
    """2·16·16·16 of a wave, and none of the vector units."""
    counters = await count("matrix", {"a": ones(256, dtype=np.float16)}, ones(256))
    assert (counters.matrix_flops, counters.vector_flops) == (2 * 16**3, 0)
    assert dict(counters.matrix_flops_by_type) == {"f16": 2 * 16**3}


async def test_a_sample_stands_for_all(count: Count) -> None:
    """Where blocks do alike, what few of them do is scaled to the same numbers."""
    a = ones(64, 64)
    some, all_ = [
        await count("product", {"a": a, "b": a}, a, I32(64), grid=(4, 4), block=(16, 16), sample=sample)
        for sample in (4, 16)
    ]
    some.sampled_blocks = all_.sampled_blocks
    assert some == all_
