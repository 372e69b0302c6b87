"""Shared memory, static and dynamic."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, integers, numbers

shared = Feature(__file__)

X = {"x": numbers(1024)}


@shared.program(**X)
def reverse(x: Array) -> Array:
    """Each block turns its part around."""
    return x.reshape(4, 256)[:, ::-1].reshape(-1)


@shared.program(**X)
def dynamic(x: Array) -> Array:
    """As much as the launch gives."""
    return np.roll(x.reshape(8, 128), -1, axis=1).reshape(-1)


@shared.program(**X)
def dynamic_views(x: Array) -> Array:
    """Two arrays of other types in one piece."""
    return x.reshape(16, 64)[:, (np.arange(64) * 5 + 3) % 64].reshape(-1)


@shared.program(**X)
def dynamic_names(x: Array) -> Array:
    """Two names for the dynamic memory are one memory."""
    return x.view(np.int32).reshape(-1, 2)[:, ::-1].reshape(-1)


@shared.program(**X)
def static_and_dynamic(x: Array) -> Array:
    """Both kinds side by side."""
    return -x.reshape(16, 64)[:, ::-1].reshape(-1)


@shared.program(x=numbers(35 * 50).reshape(35, 50))
def padded_transpose(x: Array) -> Array:
    """A tile with a column of padding; edges that fill no tile."""
    return np.ascontiguousarray(x.T)


@shared.program(**X)
def double_buffer(x: Array) -> Array:
    """The next tile is filled while this one is read: one barrier a round."""
    total = np.zeros(64, np.float32)
    for row in x.reshape(16, 64):
        total += row[::-1]
    return total


@shared.program(**X)
def structures(x: Array) -> Array:
    """A reduction of structures."""
    return x.reshape(4, 256).argmax(axis=1).astype(np.int32)


@shared.program(**X)
def union_of_types(x: Array) -> Array:
    """Written as one type and read as another."""
    return (x.reshape(8, 128)[:, ::-1] < 0).reshape(-1).astype(np.uint32)


@shared.program(**X)
def used_again(x: Array) -> Array:
    """One memory for two types, one after the other."""
    return x.reshape(8, 128)[:, np.arange(128) ^ 5].reshape(-1)


@shared.program(**X)
def handed_to_functions(x: Array) -> Array:
    """Pointers to LDS in structures and as arguments."""
    return np.add.accumulate(x.reshape(16, 64), axis=1, dtype=np.float32)[:, -1]


@shared.program(x=numbers(1000))
def stencil(x: Array) -> Array:
    """Halos, and edges that lack them."""
    padded = np.pad(x, 3)
    return np.add.accumulate([padded[k : k + 1000] for k in range(7)], axis=0, dtype=np.float32)[-1]


@shared.program(x=integers(1024))
def scan(x: Array) -> Array:
    """Sums up to each element, by Hillis and Steele."""
    return x.reshape(4, 256).cumsum(axis=1, dtype=np.int32).reshape(-1)


@shared.program(**X)
def aligned_vectors(x: Array) -> Array:
    """Sixteen bytes at once."""
    return x.reshape(4, 64, 4)[:, ::-1].reshape(-1)


@shared.program(**X)
def sixty_four_kib(x: Array) -> Array:
    """All that a block may have."""
    k = 16383 - np.arange(1024) * 16
    return x[k % 1024] + (k // 1024).astype(np.float32)


@shared.program(x=integers(5000))
def block_reduction(x: Array) -> Array:
    """Waves first, then their sums."""
    return np.array([x.sum()], np.int32)


test_shared = shared.test()
