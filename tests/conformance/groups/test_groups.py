"""Cooperative groups."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, NeedsDevice, integers

groups = Feature(__file__)

X = {"x": integers(1024)}


@groups.program(**X)
def block(x: Array) -> Array:
    """The block as a group."""
    return x.reshape(4, 256)[:, ::-1].reshape(-1)


@groups.program(**X)
def block_in_two_dimensions(x: Array) -> Array:
    """Ranks and indices."""
    rank = np.arange(1024) % 128
    return (x + rank % 32 + 100 * (rank // 32)).astype(np.int32)


@groups.program(**X)
def tile_of_4(x: Array) -> Array:
    """A static tile of 4 lanes adds up."""
    sums = x.reshape(-1, 4).sum(axis=1, keepdims=True)
    return (sums + np.arange(4)).reshape(-1).astype(np.int32)


@groups.program(**X)
def tile_of_16(x: Array) -> Array:
    """A static tile of 16 lanes adds up."""
    sums = x.reshape(-1, 16).sum(axis=1, keepdims=True)
    return (sums + np.arange(16)).reshape(-1).astype(np.int32)


@groups.program(**X)
def tile_of_64(x: Array) -> Array:
    """A static tile of 64 lanes adds up."""
    sums = x.reshape(-1, 64).sum(axis=1, keepdims=True)
    return (sums + np.arange(64)).reshape(-1).astype(np.int32)


@groups.program(**X)
def tile_exchange(x: Array) -> Array:
    """shfl_xor and shfl_up stay in their tile."""
    rows = x.reshape(-1, 32)
    up = np.concatenate([rows[:, :1], rows[:, :-1]], axis=1)
    return (rows[:, np.arange(32) ^ 5] - up).reshape(-1).astype(np.int32)


@groups.program(**X)
def tile_votes(x: Array) -> Array:
    """ballot, any and all of a tile."""
    rows = x.reshape(-1, 16)
    votes = (rows > 0).sum(axis=1) + 100 * (rows > 900).any(axis=1) + 1000 * (rows > -900).all(axis=1)
    return np.repeat(votes, 16).astype(np.int32)


@groups.program(**X)
def tile_places(x: Array) -> Array:
    """Which tile of how many."""
    return np.tile(np.repeat(np.arange(8) * 100 + 8, 8), 16).astype(np.int32)


@groups.program(**X)
def dynamic_tile(x: Array) -> Array:
    """A tile whose size is known late."""
    return np.repeat(x.reshape(-1, 8).sum(axis=1), 8).astype(np.int32)


@groups.program(**X)
def coalesced(x: Array) -> Array:
    """The lanes that are here, numbered."""
    rows = x.reshape(16, 64) > 0
    ranks = rows.cumsum(axis=1) - 1
    return np.where(rows, ranks * 1000 + rows.sum(axis=1, keepdims=True), -1).reshape(-1).astype(np.int32)


@groups.program(**X)
def coalesced_exchange(x: Array) -> Array:
    """The value of the first of them."""
    rows = x.reshape(16, 64)
    chosen = rows % 3 == 0
    first = rows[np.arange(16), chosen.argmax(axis=1)][:, None]
    return np.where(chosen, first, 0).reshape(-1).astype(np.int32)


@groups.program(**X)
def grid(x: Array) -> NeedsDevice:
    """A grid that meets needs a device."""
    return NeedsDevice("hipLaunchCooperativeKernel")


test_groups = groups.test()
