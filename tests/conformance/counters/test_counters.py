"""What programs ask of the memories and the units, counted by hand: in a sample of their blocks, and in all of them."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Counts, Feature

counters = Feature(__file__)

N = 2048
LINE = {"x": np.ones(N, np.float32)}
SQUARE = {"x": np.ones((64, 64), np.float32)}
# Of 64 × 64 threads in blocks of 16 × 16.
WAVES = 64 * 64 // 64


@counters.program(x=np.ones((2, N), np.float32), shape=(N,))
def vector_add(x: Array) -> Counts:
    """One operation an element, each byte fetched once."""
    return Counts(
        global_read_bytes=8 * N, global_write_bytes=4 * N, vector_flops=N, half_flops=0, double_flops=0,
        special_operations=0, global_transaction_bytes=12 * N, global_line_bytes=12 * N, coalescing=1,
        active_lanes=1, atomics=0, lds_read_bytes=0, matrix_flops=0, barriers=0, unique_bytes=12 * N,
    )  # fmt: skip


@counters.program(**LINE)
def strided_copy(x: Array) -> Counts:
    """A segment of 64 bytes for each float that is read, a line of 128 for each two."""
    read = N // 16
    return Counts(
        global_read_bytes=4 * read, global_write_bytes=4 * read, vector_flops=0,
        global_transaction_bytes=(64 + 4) * read, global_line_bytes=(64 + 4) * read, coalescing=8 / 68,
    )  # fmt: skip


@counters.program(**LINE)
def fused(x: Array) -> Counts:
    """A fused operation is two."""
    return Counts(vector_flops=2 * N, packed_flops=0, special_operations=0, active_lanes=1)


@counters.program(**LINE)
def exponentials(x: Array) -> Counts:
    """Each round has an exponential and a subtraction."""
    return Counts(vector_flops=10 * N, special_operations=10 * N)


@counters.program(**LINE)
def halves(x: Array) -> Counts:
    """A fused operation on a pair is four, in half precision."""
    return Counts(vector_flops=4 * N, half_flops=4 * N, packed_flops=4 * N)


@counters.program(x=np.ones((128, 64), np.float32), shape=(64, 64))
def product_naive(x: Array) -> Counts:
    """In each step a wave reads four words of different rows, and sixteen in a row."""
    return Counts(
        vector_flops=2 * 64**3, global_read_bytes=2 * 4 * 64**3, global_write_bytes=4 * 64**2,
        global_transaction_bytes=WAVES * (64 * (4 + 1) + 4) * 64, lds_read_bytes=0, active_lanes=1,
    )  # fmt: skip


def _in_tiles(extra: int) -> Counts:
    """`extra` passes of half a wave for each tile: it stores two rows and reads sixteen times two."""
    return Counts(
        vector_flops=2 * 64**3, lds_read_bytes=2 * 4 * 64**3, lds_write_bytes=2 * 4 * 64**3 // 16,
        global_read_bytes=2 * 4 * 64**3 // 16, barriers=16 * 8, lds_conflict_ratio=extra / 34,
    )  # fmt: skip


@counters.program(**SQUARE)
def product_in_tiles(x: Array) -> Counts:
    """Sixteen lanes that store a column meet in two banks."""
    return _in_tiles(7)


@counters.program(**SQUARE)
def product_in_padded_tiles(x: Array) -> Counts:
    """In padded rows, the corners of two columns alone meet."""
    return _in_tiles(1)


@counters.program(**LINE)
def banks_of_32(x: Array) -> Counts:
    """Half a wave reads two words of each of sixteen banks: an extra pass for every two."""
    return Counts(lds_conflict_ratio=1 / 2)


@counters.program(**LINE, target="gfx950")
def banks_of_64(x: Array) -> Counts:
    """The same words lie in 64 different banks, and a wave is served at once."""
    return Counts(lds_conflict_ratio=0)


@counters.program(**LINE)
def matrix(x: Array) -> Counts:
    """Matrix operations are apart from the addition to each number."""
    flops = N // 256 * 2 * 16**3
    return Counts(matrix_flops=flops, matrix_flops_by_type={"f16": flops}, vector_flops=N)


@counters.program(**LINE)
def half_of_a_wave(x: Array) -> Counts:
    """Half of the lanes wait for a loop of the others; what comes before and after weighs less than a hundredth."""
    return Counts(active_lanes=0.5, tolerance=0.01, vector_flops=N // 2 * 5000 * 2)


@counters.program(**LINE)
def one_address(x: Array) -> Counts:
    """All lanes of a wave but one come after another lane."""
    return Counts(
        atomics=N, lds_atomics=0, atomic_repeats=N // 64 * 63, most_lanes_on_a_word=64, hottest_atomic=N,
        hottest_lds_atomic=0,
    )  # fmt: skip


@counters.program(**LINE)
def histogram(x: Array) -> Counts:
    """In LDS, four lanes of a wave to each bin; then a block adds each bin to global memory."""
    blocks = N // 256
    return Counts(
        atomics=N + 16 * blocks, lds_atomics=N, atomic_repeats=N // 64 * 48, lds_atomic_repeats=N // 64 * 48,
        most_lanes_on_a_word=1, most_lanes_on_a_word_of_lds=4, hottest_atomic=blocks, hottest_lds_atomic=16,
        barriers=2 * blocks,
    )  # fmt: skip


test_counters = counters.test()
