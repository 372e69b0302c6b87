"""Wave operations where lanes take different ways, and meet again."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kernelvault.v1 import kernel_pb2
from tests.conformance.divergence import control_flow
from tests.conformance.harness import (
    MARKS,
    Array,
    Feature,
    Machine,
    NeedsDevice,
    Program,
    integers,
    lane_masks,
    numbers,
)

pytestmark = list(MARKS)
divergence = Feature(__file__)
LANES = np.arange(64)


@divergence.program(x=integers(64))
def ballots_in_branches(x: Array) -> Array:
    """Those in one branch vote together, whoever votes elsewhere at the same time."""
    odd, positive = LANES % 2 == 1, x > 0
    within = np.where(odd, lane_masks(positive & odd & (x > 500)), lane_masks(positive & ~odd & (x <= 500)))
    return np.concatenate([np.where(positive, within, lane_masks(~positive)), np.repeat(lane_masks(x > -2000), 64)])


@divergence.program(counts=integers(64, low=0, high=20))
def unequal_trip_counts(counts: Array) -> Array:
    """A loop that each lane leaves after a number of rounds of its own."""
    present = [(counts > i).sum() * (i + 1) for i in range(20)]
    sums = np.int32([sum(present[:count]) for count in counts])
    return np.concatenate([sums, np.repeat((sums > 0).sum(), 64)]).astype(np.int32)


@divergence.program(x=integers(64, low=1, high=100))
def loop_until_none_votes(x: Array) -> tuple[Array, Array]:
    """`while (__any(...))`: as many rounds as the slowest lane needs."""

    def steps(n: int) -> int:
        return 0 if n == 1 else 1 + steps(3 * n + 1 if n % 2 else n // 2)

    counts = np.int32([steps(int(n)) for n in x])
    return counts, np.repeat(counts.max(), 64)


@divergence.program(x=integers(64, low=-300, high=1000))
def early_return(x: Array) -> tuple[Array, Array]:
    """Lanes leave the kernel in two steps."""
    here, third = x >= 0, LANES % 3 == 0
    stay = here & ~third
    return np.where(stay, x[stay][0], -1).astype(np.int32), np.where(stay, lane_masks(here & third), 0)


@divergence.program(x=integers(64, low=0, high=16))
def break_and_continue(x: Array) -> Array:
    """Lanes that break are gone, lanes that continue are back in the next round."""
    sums = np.zeros(64, np.int32)
    for i in range(12):
        votes = (i <= x) & ((i + LANES) % 3 != 0)
        sums[votes] += votes.sum()
    return np.concatenate([sums, np.full(64, 64, np.int32)])


@divergence.program(x=integers(64, low=0, high=4))
def switch_with_votes(x: Array) -> Array:
    """Lanes of a case that falls through meet those of the next."""
    zero, one, both = (x == 0).sum(), (x == 1).sum(), ((x == 1) | (x == 2)).sum()
    result = np.choose(x, [zero, 1000 * one + both, both, -1])
    return np.concatenate([result, np.repeat((result > 0).sum(), 64)]).astype(np.int32)


@divergence.program(x=integers(64))
def short_circuit(x: Array) -> Array:
    """Votes on the right of && and in a conditional expression."""
    odd = np.fmod(x, 2) != 0
    return (((x > 0) & ((x > 0).sum() > 20)) + 10 * np.where(odd, odd.sum(), 0)).astype(np.int32)


@divergence.program(x=integers(64, low=0))
def nested_loops(x: Array) -> Array:
    """All lanes are together after the inner loop."""
    value = x.copy()
    for i in range(4):
        counts = (LANES * 7 + i) % 5
        for j in range(4):
            value[counts > j] += (counts > j).sum()
        value = (value + np.roll(value, -1)) % 10007
    return value


@divergence.program(x=integers(64))
def divergent_function(x: Array) -> Array:
    """A function that votes is called from several places."""
    positive = x > 0
    rounds = [10000 * left.sum() * left for left in (LANES % 4 >= 1, LANES % 4 >= 2, LANES % 4 == 3)]
    return (np.where(positive, positive.sum(), 100 * (~positive).sum()) + sum(rounds)).astype(np.int32)


@divergence.program(x=integers(64, low=0))
def divergent_function_pointers(x: Array) -> Array:
    """Indirect calls to different functions."""
    once = x % 3 == 0
    return (np.where(once, once.sum(), 101 * (~once).sum()) + x).astype(np.int32)


@divergence.program(x=integers(64, low=0, high=4))
def recursion(x: Array) -> Array:
    """A recursive function whose depth differs from lane to lane."""
    here = [(x >= depth).sum() for depth in range(4)]
    return np.int32([sum(here[i] * 100**i for i in range(depth + 1)) for depth in x])


@divergence.program(x=integers(64))
def shuffle_from_inactive(x: Array) -> Array:
    """A shuffle from a lane in another branch gives 0."""
    return np.where(LANES % 2, x[LANES ^ 2], -1).astype(np.int32)


@divergence.program(x=integers(64))
def scatter_from_inactive(x: Array) -> Array:
    """A scatter within the lanes of a branch."""
    there = (LANES >= 16) & (LANES < 48)
    from_ = LANES ^ 24
    return np.where(there, np.where(there[from_], x[from_], 0), -1).astype(np.int32)


@divergence.program(x=integers(64))
def dpp_from_inactive(x: Array) -> Array:
    """DPP whose source lane is in another branch."""
    here, first = LANES % 4 != 1, LANES % 16 == 0
    arrives = ~first & (LANES % 4 != 2)
    return np.concatenate([np.where(here, np.where(arrives, np.roll(x, 1), bare), -1) for bare in (7777, 0)]).astype(
        np.int32
    )


@divergence.program(x=numbers(64))
def read_inactive_lane(x: Array) -> NeedsDevice:
    """v_readlane_b32 of a lane in another branch."""
    return NeedsDevice("reads registers of lanes that are switched off")


@divergence.program(x=integers(64))
def first_lane_of_a_branch(x: Array) -> Array:
    """readfirstlane: the lowest lane of those that are there."""
    positive = x > 0
    return np.where(positive, LANES[positive][0], 1000 + x[~positive][0]).astype(np.int32)


@divergence.program(keys=integers(64, low=0, high=9))
def waterfall(keys: Array) -> tuple[Array, Array]:
    """A loop over the distinct keys, in the order of their first lanes."""
    distinct = list(dict.fromkeys(keys.tolist()))
    return np.int32([distinct.index(key) for key in keys]), np.int32([(keys == key).sum() for key in keys])


@divergence.program(x=integers(512))
def aggregated_atomics(x: Array) -> tuple[Array, Array]:
    """Places for all of a wave from one atomic."""
    rows = x.reshape(8, 64)
    kept = [np.pad(row[row > 0], (0, (row <= 0).sum())) for row in rows]
    return np.concatenate(kept), (rows > 0).sum(1).astype(np.int32)


@divergence.program(x=integers(1000, low=0, high=10))
def histogram_by_match(x: Array) -> Array:
    """match_any after an early return."""
    return np.bincount(x, minlength=10).astype(np.int32)


@divergence.program(x=integers(100, low=-50, high=50))
def partial_last_wave(x: Array) -> tuple[Array, Array]:
    """A block that is no multiple of the wave."""
    waves = [x[:64], x[64:]]
    padded = [np.concatenate([wave, np.zeros(64 - len(wave), np.int32)]) for wave in waves]
    sums = [np.repeat(wave.sum() + 10000, len(wave)) for wave in waves]
    return np.concatenate(sums).astype(np.int32), np.repeat([lane_masks(wave > 0) for wave in padded], [64, 36])


@divergence.program(x=integers(64))
def wave_reduction_in_a_branch(x: Array) -> Array:
    """Sums over 24 lanes and over the 40 others."""
    return np.repeat([x[:24].sum(), x[24:].sum()], [24, 40]).astype(np.int32)


@divergence.program(lengths=integers(300, low=1, high=9))
def work_queue(lengths: Array) -> tuple[Array, Array]:
    """A persistent kernel that pulls its work: the counter ends where every lane has been told that there is none."""
    return 3 * lengths + 1, np.int32([_pulled(lengths.tolist())])


@divergence.program(x=integers(512))
def lock_within_a_wave(x: Array) -> tuple[Array, Array]:
    """A critical section for each lane."""
    return np.int32([x.sum()]), np.int32([0])


@divergence.program(x=numbers(64))
def uniform_branches_of_waves(x: Array) -> Array:
    """Waves of one block in different branches."""
    return np.float32([x.max(), x.min(), (x > 0).sum(), (x < -0.5).sum()])


@divergence.program(x=integers(64, low=0, high=70))
def jump_out_of_loops(x: Array) -> tuple[Array, Array]:
    """Leaving two loops at once."""
    ends = np.where(x < 64, x, 72)
    last = lane_masks(x[None, :] >= np.minimum(x, 63)[:, None])
    return ends.astype(np.int32), np.concatenate([last, np.full(64, -1)])


test_divergence = divergence.test()


@pytest.mark.parametrize("seed", range(3))
async def test_random_control_flow(machine: Machine, seed: int, tmp_path: Path) -> None:
    """Lanes of 25 random kernels meet where a mask of lanes says."""
    blocks = [control_flow.Author(25 * seed + i).block(4) for i in range(25)]
    (tmp_path / "random.hip").write_text(control_flow.source(blocks))
    program = Program(
        source=tmp_path / "random.hip",
        inputs={"x": integers(64, low=0)},
        format=kernel_pb2.Candidate.HIP_ABI,
        ulp=0,
        atol=0,
        target="gfx942",
        shape=(),
        expected=lambda x: control_flow.results(blocks, x),
    )
    await machine.check(program, tmp_path)


def _pulled(lengths: list[int]) -> int:
    """What the queue's counter holds when two waves, one after the other, have emptied it."""
    taken = 0

    def pull(count: int) -> Iterator[int]:
        nonlocal taken
        start, taken = taken, taken + count
        return iter(lengths[i] if i < len(lengths) else -1 for i in range(start, start + count))

    for _ in range(2):
        left = [0] * 64
        for _ in itertools.count():
            given = pull(left.count(0))
            left = [next(given) if n == 0 else n for n in left]
            if max(left) < 0:
                break
            left = [n - 1 if n > 0 else n for n in left]
    return taken
