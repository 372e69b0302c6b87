"""Atomics on all types, in global and in shared memory."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, integers, numbers

atomics = Feature(__file__)

WORDS = {"x": integers(1000)}
FLOATS = {"x": integers(1000, low=-50, high=50).astype(np.float32)}


@atomics.program(**WORDS)
def add_int(x: Array) -> Array:
    """atomicAdd of int."""
    return np.array([x.sum()], np.int32)


@atomics.program(**WORDS)
def add_unsigned_shared(x: Array) -> Array:
    """atomicAdd of unsigned in LDS, which wraps around."""
    return np.array([x.astype(np.uint32).sum(dtype=np.uint32)], np.uint32)


@atomics.program(**WORDS)
def add_long(x: Array) -> Array:
    """atomicAdd of 64 bits."""
    return np.array([x.astype(np.uint64).sum()], np.uint64)


@atomics.program(**WORDS)
def sub_int(x: Array) -> Array:
    """atomicSub."""
    return np.array([-x.sum()], np.int32)


@atomics.program(**WORDS)
def min_int(x: Array) -> Array:
    """atomicMin of signed numbers."""
    return np.array([x.min()], np.int32)


@atomics.program(**WORDS)
def max_int_shared(x: Array) -> Array:
    """atomicMax in LDS."""
    return np.array([x.max()], np.int32)


@atomics.program(**WORDS)
def min_unsigned(x: Array) -> Array:
    """atomicMin of unsigned ones."""
    return np.array([x.astype(np.uint32).min()], np.uint32)


@atomics.program(**WORDS)
def max_long(x: Array) -> Array:
    """atomicMax of 64 signed bits."""
    return np.array([x.max()], np.int64)


@atomics.program(x=integers(1000) | -0xF10000)
def and_unsigned(x: Array) -> Array:
    """atomicAnd."""
    return np.array([np.bitwise_and.reduce(x.astype(np.uint32))], np.uint32)


@atomics.program(x=integers(1000, low=0))
def or_long(x: Array) -> Array:
    """atomicOr of 64 bits."""
    return np.array([np.bitwise_or.reduce(x.astype(np.uint64))], np.uint64)


@atomics.program(**WORDS)
def xor_shared(x: Array) -> Array:
    """atomicXor in LDS."""
    return np.array([np.bitwise_xor.reduce(x.astype(np.uint32))], np.uint32)


@atomics.program(**WORDS)
def add_system(x: Array) -> Array:
    """The form for the whole system."""
    return np.array([x.sum()], np.int32)


@atomics.program(**FLOATS)
def add_float(x: Array) -> Array:
    """atomicAdd of float; the numbers are whole, so that any order gives one sum."""
    return np.array([x.sum()], np.float32)


@atomics.program(**FLOATS)
def add_float_shared(x: Array) -> Array:
    """The same in LDS."""
    return np.array([x.sum()], np.float32)


@atomics.program(**FLOATS)
def add_double(x: Array) -> Array:
    """atomicAdd of double."""
    return np.array([x.sum()], np.float64)


@atomics.program(**FLOATS)
def add_double_shared(x: Array) -> Array:
    """The same in LDS."""
    return np.array([x.sum()], np.float64)


@atomics.program(**FLOATS)
def unsafe_add_float(x: Array) -> Array:
    """The instruction of the hardware, asked for by name."""
    return np.array([x.sum()], np.float32)


@atomics.program(**FLOATS)
def unsafe_add_double(x: Array) -> Array:
    """The instruction of the hardware for double."""
    return np.array([x.sum()], np.float64)


@atomics.program(**FLOATS)
def safe_add_float(x: Array) -> Array:
    """The one that is right for any memory."""
    return np.array([x.sum()], np.float32)


@atomics.program(**FLOATS)
def max_float(x: Array) -> Array:
    """atomicMax of float."""
    return np.array([x.max()], np.float32)


@atomics.program(**FLOATS)
def min_double(x: Array) -> Array:
    """atomicMin of double."""
    return np.array([x.min()], np.float64)


@atomics.program(**WORDS)
def exchange(x: Array) -> Array:
    """atomicExch gives what was there."""
    return np.array([x.sum()], np.int32)


@atomics.program(**WORDS)
def wrapping_counters(x: Array) -> tuple[Array, Array]:
    """atomicInc and atomicDec wrap at their limit."""
    up, down = 0, 3
    for _ in range(5 * 67):
        up = 0 if up >= 9 else up + 1
        down = 9 if down == 0 or down > 9 else down - 1
    return np.array([up, 0], np.uint32), np.array([down, 0], np.uint32)


@atomics.program(x=numbers(4))
def swap_loop(x: Array) -> Array:
    """A product by compare-and-swap, which begins with a plain read."""
    return np.ones(1, np.float32)


@atomics.program(x=numbers(4))
def swap_of_halves(x: Array) -> Array:
    """A sum of halves by swaps of the words around them."""
    return np.array([64, 64, 64, 0], np.float16)


@atomics.program(x=numbers(4))
def packed_halves(x: Array) -> Array:
    """Two halves at once."""
    return np.array([192, 384], np.float16)


@atomics.program(**WORDS)
def scoped(x: Array) -> Array:
    """The forms with a memory order and a scope."""
    return np.array([x.sum(), x.max(), 31, 7, 1], np.int32)


@atomics.program(**FLOATS)
def last_block(x: Array) -> Array:
    """The block that arrives last sums what the others have published."""
    return np.array([x.sum()], np.float32)


@atomics.program(**FLOATS)
def packed_argmax(x: Array) -> Array:
    """A value and its place in one word of 64 bits; of equals the first."""
    return np.array([int(x.argmax())], np.int64)


@atomics.program(**WORDS)
def histogram(x: Array) -> Array:
    """Bins in LDS, added up in global memory."""
    return np.bincount((x + 1000) // 100, minlength=20).astype(np.int32)


@atomics.program(**WORDS)
def tickets(x: Array) -> Array:
    """The value before is another one for each thread."""
    return np.ones(200, np.int32)


test_atomics = atomics.test()
