"""HIP's vector types and clang's, wide accesses, and instructions on packed integers."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, Refuses, Unsafe, integers, numbers

vectors = Feature(__file__)


def _any(count: int, seed: int) -> Array:
    """Words with any bits."""
    return np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint32)


def _lanes(words: Array, dtype: str) -> Array:
    """The parts of each word, widened."""
    return words.view(dtype).reshape(len(words), -1).astype(np.int64)


def _nibbles(words: Array, *, signed: bool) -> Array:
    parts = words[:, None].astype(np.int64) >> np.arange(0, 32, 4) & 15
    return parts - 16 * (parts > 7) if signed else parts


@vectors.program(a=numbers(128), b=numbers(128, 2, 0.5, 2), atol=2e-6)
def float_operators(a: Array, b: Array) -> Array:
    """float4: arithmetic with vectors and with numbers, also in place."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    ramp = np.tile([1.0, 2, 3, 4], 32)
    return np.concatenate([((x + y) * 2 - ramp) / y, x * y - x / y, 1.5 - x, 2 * x, 0.25 - y]).astype(np.float32)


@vectors.program(a=integers(128), b=np.where(integers(128, 2) == 0, 7, integers(128, 2)).astype(np.int32))
def int_operators(a: Array, b: Array) -> Array:
    """int4: bits, shifts by vectors, division toward zero, increments."""
    ramp, quotient = np.tile(np.arange(1, 5), 32), np.trunc(a / b).astype(np.int32)
    results = [(a ^ b) << ramp, (a & b) | ~a, a - quotient * b + quotient, a >> ramp, np.full(128, -1), a - 1]
    return np.concatenate(results).astype(np.int32)


@vectors.program(
    a=np.array([1, 1, 1, 1, 2, 3, 1, 2, np.nan, 0, 0, -0.0], np.float32),
    b=np.array([1, 1, 1, 1, 2, 4, 1, 2, np.nan, 0, -0.0, 0], np.float32),
)
def equality(a: Array, b: Array) -> Array:
    """Vectors are equal if all elements are, different if any is."""
    x, y = a.reshape(-1, 3), b.reshape(-1, 3)
    same, ones = (x == y).all(axis=1), (x == 1).all(axis=1)
    return np.where(same, 1, 2).astype(np.int32) | ones.astype(np.int32) << 2


@vectors.program(a=numbers(96), b=numbers(96, 2), atol=1e-6)
def three_floats(a: Array, b: Array) -> Array:
    """float3 lies without padding."""
    return np.cross(a.astype(np.float64).reshape(-1, 3), b.reshape(-1, 3)).astype(np.float32).ravel()


@vectors.program(a=integers(128, 1, 0, 256, np.uint8), b=integers(128, 2, -128, 128, np.int8))
def byte_elements(a: Array, b: Array) -> tuple[Array, ...]:
    """uchar4 and char4 compute in eight bits."""
    plus, by = np.tile(np.uint8([200, 100, 50, 1]), 32), np.tile([2, 3, 4, 5], 32)
    mixed = (a >> np.tile(np.uint8([1, 1, 2, 2]), 32)) * np.tile(np.uint8([3, 3, 5, 5]), 32)
    return a + plus, np.trunc(b / by).astype(np.int8), mixed


@vectors.program(a=numbers(64, dtype=np.float64), b=integers(64, 2, -(2**40), 2**40, np.int64))
def wide_elements(a: Array, b: Array) -> tuple[Array, Array]:
    """double2 and longlong2."""
    x, y = a.reshape(-1, 2).copy(), b.reshape(-1, 2)
    x[:, 0] += x[:, 1]
    with np.errstate(over="ignore"):
        return x.ravel() * 0.5, (y * np.array([3000000000, -7]) + y[:, ::-1]).ravel()


@vectors.program(a=integers(64, 1, -(2**15), 2**15, np.int16), b=integers(64, 2, -(2**15), 2**15, np.int16))
def shorts(a: Array, b: Array) -> tuple[Array, Array]:
    """short2 and ushort4 compute in sixteen bits."""
    with np.errstate(over="ignore"):
        product = a * np.tile(np.int16([3, -3]), 32) + np.tile(np.int16([1, 2]), 32)
    return product, b.view(np.uint16) << np.tile(np.uint16([1, 2, 3, 4]), 16)


@vectors.program(a=numbers(128))
def swizzles(a: Array) -> Array:
    """Members in any order are read and written; comparisons give masks."""
    x = a.reshape(-1, 4)
    y = x[:, ::-1].copy()
    results = [y.copy()]
    y[:, [0, 2]] = x[:, [1, 1]]
    y[:, 2:] *= 2
    chosen = np.where(x > 0, x, -x[:, [1, 0, 3, 2]])
    shuffled = np.stack([x[:, 0], y[:, 0], x[:, 3], y[:, 3]], axis=1)
    results += [y, chosen, shuffled, (x > 0).astype(np.float32)]
    return np.concatenate(results).ravel()


@vectors.program(x=numbers(200), pick=integers(200, 2, 0, 64))
def by_index(x: Array, pick: Array) -> Array:
    """Elements chosen at run time."""
    results = []
    for number, p in zip(x, pick, strict=True):
        r = np.float32(p & 3)
        row = np.array([number + r, number * r, number - r, r], np.float32)
        row[p >> 2 & 3] = 99
        results.append(row[p >> 2 & 3] + row[p >> 4 & 3])
    return np.array(results, np.float32)


@vectors.program(x=integers(512, 1, -(2**31), 2**31))
def wide_copies(x: Array) -> tuple[Array, ...]:
    """Sixteen bytes in a struct, by a cast, past the caches, and from an address that is a multiple of eight."""
    rows = x.reshape(-1, 4).copy()
    rows[:, 2] += x.view(np.uint8).reshape(-1, 16)[:, 13]
    return rows.ravel(), x, x, np.append(x[2:-2], [0] * 4).astype(np.int32)


@vectors.program(x=numbers(256), shape=(32,))
def misaligned(x: Array) -> Unsafe:
    """A vector whose elements straddle words is found."""
    return Unsafe("MISALIGNED")


@vectors.program(a=_any(200, 1), b=_any(200, 2), c=integers(200, 3))
def dots(a: Array, b: Array, c: Array) -> Array:
    """Sums of products of 8, 16 and 4 bits, wrapping around or clamped."""

    def sums(dtype: str) -> Array:
        return (_lanes(a, dtype) * _lanes(b, dtype)).sum(axis=1)

    signed, unsigned = (
        (_nibbles(a, signed=s) * _nibbles(b, signed=s)).sum(axis=1)  # of four bits
        for s in (True, False)
    )
    plain = [sums("i1") + c, sums("u1") + c, sums("i2") + c, sums("u2") + 7, signed + c, unsigned + 7]
    clamped = [np.minimum(sums("i1") + 2**31 - 1, 2**31 - 1), np.full(200, 2**32 - 1)]
    return np.concatenate([*plain, *clamped]).astype(np.uint32)


@vectors.program(
    scale=numbers(8),
    a=integers(8 * 2048, 1, -128, 128, np.int8).reshape(8, 2048),
    b=integers(2048, 2, -128, 128, np.int8),
)
def quantised_product(scale: Array, a: Array, b: Array) -> Array:
    """Rows of signed bytes times a vector."""
    return (a.astype(np.int64) @ b.astype(np.int64)).astype(np.float32) * scale


@vectors.program(
    a=_any(200, 1), b=np.where(np.arange(200) % 5 == 0, _any(200, 2) & 0xFF00FF00, _any(200, 2)).astype(np.uint32)
)
def bytes_of_words(a: Array, b: Array) -> Array:
    """Bytes are chosen, shifted across words, subtracted, averaged; fields are extracted."""
    high, low = a.astype(np.int64), b.astype(np.int64)
    both = high << 32 | low
    x, y, p, q = _lanes(a, "u1"), _lanes(b, "u1"), _lanes(a, "u2"), _lanes(b, "u2")
    apart = np.abs(x - y)
    field = high >> 5 & 0x7FF
    signs = [low >> 15 & 1, low >> 31 & 1, high >> 15 & 1, high >> 31 & 1]
    results = [
        (x[:, 3] << 24) | (y[:, 0] << 16) | 0xFF,  # selectors 7, 0, 12 (zero), 13 (ones)
        (both.view(np.uint64) >> np.uint64(9)).view(np.int64),
        (both.view(np.uint64) >> np.uint64(24)).view(np.int64),
        (y[:, 2] << 24) | (x[:, 2] << 16) | (y[:, 0] << 8) | x[:, 0],
        apart.sum(axis=1) + 10,
        np.abs(p - q).sum(axis=1) + 10,
        (apart.sum(axis=1) << 16) + 10,
        np.where(y > 0, apart, 0).sum(axis=1) + 10,
        ((x + y + 1 >> 1) << np.arange(0, 32, 8)).sum(axis=1),
        field,
        field - 2048 * (field > 1023),
        sum(sign * 0xFF << 8 * place for place, sign in enumerate(signs)),
    ]
    return np.concatenate([result & 0xFFFFFFFF for result in results]).astype(np.uint32)


@vectors.program(a=_any(200, 1), b=_any(200, 2), c=_any(200, 3), target="gfx950")
def any_function(a: Array, b: Array, c: Array) -> Array:
    """v_bitop3_b32 with the tables of the majority, of exclusive or and of its first operand; v_prng_b32."""
    random = (a << np.uint32(1)) ^ np.where(a >> 31, 0xC5, 0).astype(np.uint32)
    return np.concatenate([(a & b) | (a & c) | (b & c), a ^ b ^ c, a, random])


@vectors.program(a=integers(64))
def mixed_dot_of_newer_target(a: Array) -> Refuses:
    """sudot4 is not of gfx942, which the compiler for the GPU says."""
    return Refuses("COMPILE_FAILED", "sudot4")


test_vectors = vectors.test()
