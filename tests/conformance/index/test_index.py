"""Index arithmetic and integer intrinsics."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, Refuses, integers

index = Feature(__file__)

X = {"x": integers(1000, low=-(2**31), high=2**31)}
U = {"x": integers(1000, low=0, high=2**32, dtype=np.uint32)}
L = {"x": integers(1000, low=0, high=2**63, dtype=np.uint64)}


@index.program(**U)
def divided_by_zero(x: Array) -> Refuses:
    """C++ leaves it open, and what a GPU gives is nowhere said."""
    return Refuses(
        "CRASHED", "in the kernel each(unsigned int const*, unsigned int*, long): an integer is divided by zero"
    )


@index.program(**U)
def popc(x: Array) -> Array:
    """Bits that are set."""
    return np.bitwise_count(x).astype(np.int32)


@index.program(**L)
def popcll(x: Array) -> Array:
    """Of 64."""
    return np.bitwise_count(x).astype(np.int32)


@index.program(**U)
def clz(x: Array) -> Array:
    """Leading zeros, 32 for none set."""
    shifted = [int(v) >> (k % 33) for k, v in enumerate(x)]
    return np.array([32 - v.bit_length() for v in shifted], np.int32)


@index.program(**U)
def ffs(x: Array) -> Array:
    """The first bit that is set, from 1."""
    shifted = [(int(v) << (k % 20)) & 0xFFFFFFFF for k, v in enumerate(x)]
    return np.array([(v & -v).bit_length() for v in shifted], np.int32)


@index.program(**U)
def brev(x: Array) -> Array:
    """Bits turned around."""
    return np.array([int(f"{v:032b}"[::-1], 2) for v in x], np.uint32)


@index.program(**U)
def umulhi(x: Array) -> Array:
    """The high half of a product."""
    return (x.astype(np.uint64) * 0x9E3779B9 >> 32).astype(np.uint32)


@index.program(**X)
def mulhi(x: Array) -> Array:
    """The same with a sign."""
    return (x.astype(np.int64) * -77777 >> 32).astype(np.int32)


@index.program(**L)
def umul64hi(x: Array) -> Array:
    """Of 64 bits."""
    return np.array([int(v) * 0x9E3779B97F4A7C15 >> 64 for v in x], np.uint64)


@index.program(**X)
def mul24(x: Array) -> Array:
    """A product of 24 bits."""
    return ((x & 0x7FFF) * 300).astype(np.int32)


@index.program(**U)
def byte_perm(x: Array) -> Array:
    """Bytes chosen of two words."""
    both = np.concatenate([x[:, None], ~x[:, None]], axis=1).view(np.uint8)
    return np.ascontiguousarray(both[:, [7, 0, 6, 2]]).view(np.uint32)[:, 0]


@index.program(**U)
def funnel_shift(x: Array) -> Array:
    """A shift of two words."""
    shift = np.arange(1000, dtype=np.uint64) % 32
    both = (~x).astype(np.uint64) << 32 | x
    return (both << shift >> 32).astype(np.uint32)


@index.program(**U)
def bit_field(x: Array) -> Array:
    """Eight bits from a place."""
    return (x >> (np.arange(1000, dtype=np.uint32) % 24)) & np.uint32(255)


@index.program(**X)
def signed_bit_field(x: Array) -> Array:
    """The same with a sign."""
    return (x >> (np.arange(1000, dtype=np.int32) % 24)).astype(np.int8).astype(np.int32)


@index.program(**X)
def division(x: Array) -> Array:
    """Quotients and remainders round towards zero."""
    quotient = np.trunc(x / 7).astype(np.int64)
    return (quotient * 1000 + (x - quotient * 7)).astype(np.int32)


@index.program(**X)
def power_of_two(x: Array) -> Array:
    """Shifts in place of divisions."""
    return (x >> 4) + (x & 15) + (x.view(np.uint32) // 64 % 128).astype(np.int32)


@index.program(**X)
def wide_products(x: Array) -> Array:
    """Indices of 64 bits."""
    return x.astype(np.int64) * 100000 + np.arange(1000)


@index.program(**U)
def wrapping(x: Array) -> Array:
    """Unsigned numbers wrap around."""
    return x * np.uint32(2654435761) + np.uint32(12345)


@index.program(**X)
def min_max_abs(x: Array) -> Array:
    """min, max and abs."""
    return (np.clip(x, -1000, 1000) + np.abs(np.trunc(x / 2).astype(np.int64))).astype(np.int32)


@index.program(**X)
def lanes(x: Array) -> Array:
    """Which lane of its wave a thread is, asked in two ways."""
    return (np.arange(1000) % 64 * 65).astype(np.int32)


@index.program(**X)
def wave_size(x: Array) -> Array:
    """64 lanes."""
    return (64 + np.arange(1000) // 64).astype(np.int32)


@index.program(**U)
def align_bits(x: Array) -> Array:
    """A word across two."""
    return (((x.astype(np.uint64) << 32) | ~x) >> 9).astype(np.uint32)


@index.program(**X)
def sum_of_differences(x: Array) -> Array:
    """A difference without its sign, and a sum."""
    return (np.abs(x.astype(np.int64) - 1000) + 5).astype(np.uint32)


@index.program(x=integers(300, 3, -(2**31), 2**31), y=integers(300, 4, -(2**31), 2**31))
def averages(x: Array, y: Array) -> Array:
    """Half of a sum that does not overflow, rounded down or up."""
    signed, unsigned = x.astype(np.int64) + y, x.view(np.uint32).astype(np.int64) + y.view(np.uint32)
    return np.concatenate([signed >> 1, (signed + 1) >> 1, unsigned >> 1, (unsigned + 1) >> 1]).astype(np.uint32)


@index.program(x=np.append(integers(200, 5, -(2**63), 2**63 - 1, np.int64), [0, 1, -1, 1 << 40]))
def wide_bits(x: Array) -> Array:
    """Counts, order, fields and high products of 64 bits."""
    rows = []
    for i, value in enumerate(map(int, x)):
        bits = f"{value % 2**64:064b}"
        field, at = value % 2**64 >> i % 60 & 31, i % 60
        inserted = (value & 15) << at
        first = 64 - bits.rfind("1") if value else 0
        row = [64 - len(bits.lstrip("0")), first, int(bits[::-1], 2), bits.count("1")]
        rows.append([*row, field & (2 ** (64 - at) - 1), inserted, value << 40 >> 64])
    wrapped = [[number % 2**64 for number in row] for row in rows]
    return np.array(wrapped, np.uint64).T.reshape(-1)


test_index = index.test()
