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


@atomics.program(**FLOATS)
def extremes_of_floats(x: Array) -> tuple[Array, Array]:
    """Minimum and maximum of floats by instruction and by swaps."""
    extremes = np.array([x.min(), x.max()] * 2)
    return extremes, extremes.astype(np.float64)


@atomics.program(x=numbers(4))
def pairs(x: Array) -> tuple[Array, Array]:
    """Two halves or two bfloat16 at once: by class, by instruction, in LDS; and one alone."""
    bfloat = (np.array([64, 128, 64, 128, 128, 0, 0, 0], np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.array([64, 128, 192, -64, 32, 256, 16, 0], np.float16), bfloat


@atomics.program(**FLOATS)
def instructions_for_spaces(x: Array) -> tuple[Array, Array]:
    """The instructions for global memory and for LDS take pointers that name their address space."""
    total, low, high = x[:256].sum(), x[:256].min(), x[:256].max()
    return np.array([total, total, low, high], np.float32), np.array([total, low, high], np.float64)


@atomics.program(x=numbers(4))
def swaps_of_all_types(x: Array) -> tuple[Array, ...]:
    """atomicCAS and atomicExch of all types that have them."""
    return tuple(np.array([70, 7], dtype) for dtype in (np.int32, np.uint32, np.float32, np.float64, np.int64))


@atomics.program(**WORDS)
def of_the_system(x: Array) -> tuple[Array, Array]:
    """All forms for the whole system."""
    bits = [np.bitwise_or.reduce(x & 0xFF0), np.bitwise_xor.reduce(x), 0]
    return np.array([-x.sum(), x.min(), x.max(), *bits, 5, 6], np.int32), np.array([1000 << 33], np.int64)


@atomics.program(x=numbers(4))
def compiler_builtins(x: Array) -> Array:
    """The compiler's own atomics, with orders and scopes; a nand of 1 goes from -1 to -2 and back."""
    named = [64, -64, 0, 63, 0, 5, 6, 3, 64, 63, 4, 64, 64, -2, 128, 0]
    return np.array([*named, *[5] * 64], np.int32)


test_atomics = atomics.test()
