"""Data-parallel primitives: moves of registers between lanes of a wave, and what is built of them."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, integers, numbers

dpp = Feature(__file__)
LANES = np.arange(64)
ROW, PLACE = LANES // 16 * 16, LANES % 16


def moved(x: Array, source: Array, arrives: Array, else_: float) -> Array:
    """What arrives from other lanes, and `else_` elsewhere."""
    return np.where(arrives, x[source % 64], else_).astype(x.dtype)


@dpp.program(x=integers(64))
def row_shifts(x: Array) -> Array:
    """row_shl, row_shr, row_ror."""
    return np.concatenate(
        [
            moved(x, LANES + 3, PLACE + 3 < 16, -1),
            moved(x, LANES - 3, PLACE >= 3, -1),
            moved(x, LANES - 15, PLACE == 15, 0),
            x[ROW + (PLACE - 5) % 16],
            moved(x, LANES + 1, PLACE < 15, 0),
        ]
    )


@dpp.program(x=integers(64, low=0, high=100).astype(np.float32))
def quad_perm(x: Array) -> Array:
    """Sums and broadcasts of four lanes."""
    return np.concatenate([np.repeat(x.reshape(16, 4).sum(1), 4), np.repeat(x[::4], 4)])


@dpp.program(x=integers(64))
def mirrors(x: Array) -> Array:
    """Rows of 16 and of 8 reversed."""
    return np.concatenate([x.reshape(4, 16)[:, ::-1].reshape(-1), x.reshape(8, 8)[:, ::-1].reshape(-1)])


@dpp.program(x=integers(64))
def broadcasts(x: Array) -> Array:
    """row_bcast:15, row_bcast:31 and row_newbcast:7."""
    return np.concatenate([moved(x, ROW - 1, ROW > 0, -1), moved(x, np.full(64, 31), LANES >= 32, -1), x[ROW + 7]])


@dpp.program(x=integers(64))
def wave_shifts(x: Array) -> Array:
    """Shifts and rotations by one lane through the wave."""
    return np.concatenate(
        [moved(x, LANES + 1, LANES < 63, -1), np.roll(x, -1), moved(x, LANES - 1, LANES > 0, 0), np.roll(x, 1)]
    )


@dpp.program(x=integers(64))
def masks(x: Array) -> Array:
    """Row masks and bank masks."""
    row, bank, old = LANES // 16, PLACE // 4, 7000 + LANES
    shifted, bounded = np.where(PLACE > 0, np.roll(x, 1), old), np.where(PLACE > 0, np.roll(x, 1), 0)
    return np.concatenate(
        [
            np.where(0b1010 >> row & 1, shifted, old),
            np.where(0b0110 >> bank & 1, bounded, old),
            np.where((0b0011 >> row & 1) & (0b1000 >> bank & 1), x[ROW + (PLACE - 1) % 16], old),
        ]
    ).astype(np.int32)


@dpp.program(x=numbers(256))
def wave_sum(x: Array) -> Array:
    """The reduction of a wave as the compiler and experts write it, in the same order of additions."""
    sums = x.reshape(4, 4, 16).copy()
    for step in (1, 2, 4, 8):
        sums[:, :, step:] += sums[:, :, :-step].copy()
    ends = sums[:, :, 15]
    return (ends[:, 3] + ends[:, 2]) + (ends[:, 1] + ends[:, 0])


@dpp.program(x=integers(64))
def scan(x: Array) -> Array:
    """Inclusive and exclusive maximum."""
    most = np.maximum.accumulate(x)
    return np.concatenate([most, [-5000], most[:-1]]).astype(np.int32)


@dpp.program(f=numbers(64), d=numbers(64, dtype=np.float64), l=integers(64, 4, -(2**60), 2**60, np.int64))
def of_wide_types(f: Array, d: Array, l: Array) -> tuple[Array, Array, Array]:  # noqa: E741
    """DPP on float, double and long."""
    return (
        moved(f, LANES + 1, PLACE < 15, 0.25),
        moved(d, LANES - 1, PLACE > 0, 0.5),
        l.reshape(8, 8)[:, ::-1].reshape(-1),
    )


test_dpp = dpp.test()
