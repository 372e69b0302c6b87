"""Barriers, votes of a block, fences, lockstep."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, NeedsDevice, integers

sync = Feature(__file__)

X = {"x": integers(1024)}


@sync.program(**X)
def count(x: Array) -> Array:
    """__syncthreads_count."""
    return (x.reshape(4, 256) > 0).sum(axis=1).astype(np.int32)


@sync.program(**X)
def and_or(x: Array) -> Array:
    """__syncthreads_and and __syncthreads_or."""
    rows = x.reshape(8, 128)
    return (2 * (rows < 990).all(axis=1) + (rows > 990).any(axis=1)).astype(np.int32)


@sync.program(**X)
def early_exit_of_waves(x: Array) -> Array:
    """Waves that left do not hold up a barrier."""
    return x.reshape(16, 64)[:, ::-1].reshape(-1)


@sync.program(x=integers(1000))
def early_exit_of_lanes(x: Array) -> Array:
    """The last block is not full: lanes leave at the start, as everybody writes it."""
    sums = [x[k : k + 256].sum() for k in range(0, 1000, 256)]
    return np.repeat(np.array(sums, np.int32), 256)[:1000]


@sync.program(**X)
def barrier_in_a_uniform_branch(x: Array) -> Array:
    """A branch that a whole block takes."""
    rows = x.reshape(8, 128).copy()
    rows[::2] = rows[::2, ::-1]
    return rows.reshape(-1)


@sync.program(**X)
def barrier_in_a_loop(x: Array) -> Array:
    """A sort with a barrier a round."""
    return np.sort(x.reshape(16, 64), axis=1).reshape(-1)


@sync.program(**X)
def lockstep(x: Array) -> Array:
    """The tail of a reduction by a wave in lockstep, with `volatile`."""
    return x.reshape(8, 128).sum(axis=1).astype(np.int32)


@sync.program(**X)
def wave_barrier(x: Array) -> Array:
    """Lanes of a wave exchange through LDS with the barrier of a wave."""
    return x.reshape(16, 64)[:, ::-1].reshape(-1)


@sync.program(**X)
def bare_barrier(x: Array) -> Array:
    """s_barrier between fences, as experts write it."""
    return x.reshape(4, 256)[:, ::-1].reshape(-1)


@sync.program(**X)
def assembly_barrier(x: Array) -> Array:
    """The same in assembly, with its wait."""
    return x.reshape(4, 256)[:, ::-1].reshape(-1)


@sync.program(**X)
def producer_and_consumer(x: Array) -> Array:
    """One wave fills what another one reads, a round behind."""
    return x.reshape(16, 64)[:, ::-1].sum(axis=0).astype(np.int32)


@sync.program(**X)
def flag_between_waves(x: Array) -> Array:
    """A wave waits for a flag that another one sets."""
    return x[:16] * 3


@sync.program(**X)
def lock(x: Array) -> Array:
    """A lock that one thread of a block takes."""
    return np.array([x[:32].sum()], np.int32)


@sync.program(**X)
def waits_for_a_later_block(x: Array) -> NeedsDevice:
    """Blocks that wait for one another need a device: here they run one by one."""
    return NeedsDevice("block")


test_sync = sync.test()
