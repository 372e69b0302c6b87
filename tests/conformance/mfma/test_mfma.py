"""Matrix instructions of gfx90a, gfx942 and gfx950: products of exact numbers in the documented layouts."""

from __future__ import annotations

import numpy as np

from kernelvault.replay import narrow_floats
from tests.conformance import narrow
from tests.conformance.harness import Array, Feature, NeedsDevice, integers, numbers

mfma = Feature(__file__)
# Of a product: rows and columns, products at once, depth.
Shape = tuple[int, int, int]


def operands(shapes: list[Shape], dtype: object, sum_dtype: object = np.float32) -> dict[str, Array]:
    """Small integers for A, B and C of several products, flat and one after another."""
    depth, size = (sum(m * n * k for m, n, k in shapes), sum(m * m * n for m, n, _ in shapes))
    each = {"a": (depth, dtype), "b": (depth, dtype), "c": (size, sum_dtype)}
    return {name: integers(count, seed, -8, 9).astype(kind) for seed, (name, (count, kind)) in enumerate(each.items())}


def products(shapes: list[Shape], a: Array, b: Array, c: Array) -> Array:
    """A B + C of each, flat and one after another."""
    results, at, to = [], 0, 0
    for m, blocks, k in shapes:
        count, size = blocks * m * k, blocks * m * m
        x, y = a[at : at + count].reshape(blocks, m, k), b[at : at + count].reshape(blocks, k, m)
        results.append((x.astype(c.dtype) @ y.astype(c.dtype) + c[to : to + size].reshape(blocks, m, m)).reshape(-1))
        at, to = at + count, to + size
    return np.concatenate(results)


def bf16(x: Array) -> Array:
    """The bits of numbers that bfloat16 has."""
    return narrow.to_bf16(x).view(np.int16)


def in_bf16(shapes: list[Shape]) -> dict[str, Array]:
    """Operands as bits of bfloat16."""
    given = operands(shapes, np.float32)
    return given | {"a": bf16(given["a"]), "b": bf16(given["b"])}


def _finer_a(given: dict[str, Array]) -> dict[str, Array]:
    """A is of positive numbers, each 2^-14 more than an integer."""
    return given | {"a": np.abs(given["a"]) + np.float32(2**-14)}


F32 = [(32, 1, 2), (16, 1, 4)]
F32_BLOCKS = [(32, 2, 1), (16, 4, 1), (4, 16, 1)]
F16 = [(32, 1, 8), (16, 1, 16)]
F16_BLOCKS = [(32, 2, 4), (16, 4, 4), (4, 16, 4)]
BF16_OF_GFX90A = [(32, 1, 4), (16, 1, 8), (32, 2, 2), (16, 4, 2), (4, 16, 2)]
F16_OF_GFX950 = [(32, 1, 16), (16, 1, 32)]
I8_OF_GFX950 = [(32, 1, 32), (16, 1, 64)]
XF32 = [(16, 1, 8), (32, 1, 4)]
F64 = [(16, 1, 4), (4, 4, 4)]
F8 = [*[(16, 1, 32)] * 4, *[(32, 1, 16)] * 4]
SIXTEEN = [(4, 16, 1)]


@mfma.program(**operands(F32, np.float32))
def f32(**given: Array) -> Array:
    """32x32x2 and 16x16x4 of float."""
    return products(F32, **given)


@mfma.program(**operands(F32_BLOCKS, np.float32))
def f32_blocks(**given: Array) -> Array:
    """Two products of 32x32x1, four of 16x16x1, sixteen of 4x4x1."""
    return products(F32_BLOCKS, **given)


@mfma.program(**operands(F16, np.float16))
def f16(**given: Array) -> Array:
    """32x32x8 and 16x16x16 of half."""
    return products(F16, **given)


@mfma.program(**operands(F16_BLOCKS, np.float16))
def f16_blocks(**given: Array) -> Array:
    """Several products of half at once."""
    return products(F16_BLOCKS, **given)


@mfma.program(**in_bf16(F16 + F16_BLOCKS))
def bf16_1k(a: Array, b: Array, c: Array) -> Array:
    """All shapes of bfloat16 with four numbers a lane."""
    return products(F16 + F16_BLOCKS, narrow.from_bf16(a), narrow.from_bf16(b), c)


@mfma.program(**in_bf16(BF16_OF_GFX90A), target="gfx90a")
def bf16_of_gfx90a(a: Array, b: Array, c: Array) -> Array:
    """The older shapes of bfloat16."""
    return products(BF16_OF_GFX90A, narrow.from_bf16(a), narrow.from_bf16(b), c)


@mfma.program(**operands(F16, np.int8, np.int32), target="gfx90a")
def i8_of_gfx90a(**given: Array) -> Array:
    """32x32x8 and 16x16x16 of bytes."""
    return products(F16, **given)


@mfma.program(**operands(F16_BLOCKS, np.int8, np.int32))
def i8_blocks(**given: Array) -> Array:
    """Several products of bytes at once."""
    return products(F16_BLOCKS, **given)


@mfma.program(**operands(F16_OF_GFX950, np.int8, np.int32))
def i8(**given: Array) -> Array:
    """32x32x16 and 16x16x32 of bytes."""
    return products(F16_OF_GFX950, **given)


@mfma.program(**operands(I8_OF_GFX950, np.int8, np.int32), target="gfx950")
def i8_of_gfx950(**given: Array) -> Array:
    """32x32x32 and 16x16x64 of bytes."""
    return products(I8_OF_GFX950, **given)


@mfma.program(**operands(F16_OF_GFX950, np.float16), target="gfx950")
def f16_of_gfx950(**given: Array) -> Array:
    """32x32x16 and 16x16x32 of half."""
    return products(F16_OF_GFX950, **given)


@mfma.program(**in_bf16(F16_OF_GFX950), target="gfx950")
def bf16_of_gfx950(a: Array, b: Array, c: Array) -> Array:
    """32x32x16 and 16x16x32 of bfloat16."""
    return products(F16_OF_GFX950, narrow.from_bf16(a), narrow.from_bf16(b), c)


@mfma.program(**_finer_a(operands(XF32, np.float32)))
def xf32(a: Array, b: Array, c: Array) -> Array:
    """Single precision with ten bits of mantissa: what is finer than that is lost, rounded or cut."""
    return products(XF32, np.where(a < 1, a, np.floor(a)), b, c)


@mfma.program(**operands(F64, np.float64, np.float64), target="gfx90a")
def f64(**given: Array) -> Array:
    """16x16x4 and four 4x4x4 of double."""
    return products(F64, **given)


@mfma.program(**operands([(4, 4, 4)], np.float64, np.float64))
def f64_negated(a: Array, b: Array, c: Array) -> Array:
    """Operands negated by the instruction."""
    signs = [(-1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, -1, -1)]
    return np.concatenate([products([(4, 4, 4)], x * a, y * b, z * c) for x, y, z in signs])


@mfma.program(**operands(SIXTEEN, np.float32))
def broadcast_of_a(a: Array, b: Array, c: Array) -> Array:
    """cbsz and abid."""
    blocks, ways = a.reshape(16, 4), [(1, 1), (2, 3), (4, 13)]
    shared = [blocks[np.arange(16) >> size << size | from_] for size, from_ in ways]
    return np.concatenate([products(SIXTEEN, x.reshape(-1), b, c) for x in shared])


@mfma.program(**operands(SIXTEEN, np.float32))
def patterns_of_b(a: Array, b: Array, c: Array) -> Array:
    """blgp from 1 to 7. A lane has one number of B, and they stand in the order of lanes."""
    lanes = np.arange(64)
    sources = [lanes % 32, lanes % 32 + 32, (lanes + 16) % 64, *(lanes % 16 + 16 * i for i in range(4))]
    return np.concatenate([products(SIXTEEN, a, b[source], c) for source in sources])


def eights(kinds: tuple[str, str], a: Array, b: Array, c: Array) -> Array:
    """All four products of two formats of eight bits, in both shapes."""
    pairs = [(x, y) for x in kinds for y in kinds] * 2
    results, at, to = [], 0, 0
    for (m, _, k), (first, second) in zip(F8, pairs, strict=True):
        x, y = _decoded(a[at : at + m * k], first), _decoded(b[at : at + m * k], second)
        results.append(products([(m, 1, k)], x, y, c[to : to + m * m]))
        at, to = at + m * k, to + m * m
    return np.concatenate(results)


# Codes of numbers near 1 in all four formats, of both signs.
CODES = {
    name: (integers(8 * 512, seed, 0x38, 0x48) + 128 * integers(8 * 512, seed + 9, 0, 2)).astype(np.uint8)
    for seed, name in enumerate("ab")
}


@mfma.program(**CODES, c=operands(F8, np.float32)["c"])
def fp8_fnuz(**given: Array) -> Array:
    """Formats of eight bits on gfx942."""
    return eights(("float8_e4m3fnuz", "float8_e5m2fnuz"), **given)


@mfma.program(**CODES, c=operands(F8, np.float32)["c"], target="gfx950")
def fp8_ocp(**given: Array) -> Array:
    """Formats of eight bits on gfx950."""
    return eights(("float8_e4m3fn", "float8_e5m2"), **given)


@mfma.program(
    a=numbers(128 * 96, dtype=np.float16).reshape(128, 96),
    b=numbers(96 * 64, 2, dtype=np.float16).reshape(96, 64),
    atol=1e-5,
)
def tiled_product(a: Array, b: Array) -> Array:
    """A product as it is written for speed: tiles in LDS, chains of accumulators."""
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)


@mfma.program(b=integers(1024, low=0).astype(np.float32).reshape(32, 32))
def accumulator_layout(b: Array) -> Array:
    """Where the 16 values of a lane are in D."""
    lane, v = np.arange(64)[None, :], np.arange(16)[:, None]
    return (b[8 * (v // 4) + 4 * (lane // 32) + v % 4, lane % 32] + 10000 * v).reshape(-1).astype(np.float32)


def chosen(pairs: int, seed: int) -> Array:
    """Two different places out of four, in order, for each pair."""
    first, second = np.triu_indices(4, 1)
    way = integers(pairs, seed, 0, 6)
    return np.stack([first[way], second[way]], 1)


def index_of(places: Array, lanes_rows: int, per_lane: int, shift: int) -> Array:
    """Each lane's index: two bits for each of its numbers, from bit `shift`."""
    by_lane = places.reshape(lanes_rows, 64 // lanes_rows, per_lane).transpose(1, 0, 2).reshape(64, per_lane)
    return (by_lane << (2 * np.arange(per_lane) + shift)).sum(1).astype(np.uint32).view(np.int32)


def spread(a: Array, places: Array) -> Array:
    """A sparse matrix with its zeros."""
    full = np.zeros((a.size // 2, 4), a.dtype)
    np.put_along_axis(full, places, a.reshape(-1, 2), 1)
    return full.reshape(a.shape[0], -1)


LOW, HIGH, BYTES, EIGHTS = chosen(16 * 8, 1), chosen(16 * 8, 2), chosen(32 * 8, 3), chosen(16 * 16, 4)


@mfma.program(
    a=integers(256, 1, -8, 9).astype(np.float16),
    b=integers(512, 2, -8, 9).astype(np.float16),
    index=index_of(LOW, 16, 4, 0) | index_of(HIGH, 16, 4, 24),
    c=integers(256, 3).astype(np.float32),
)
def sparse(a: Array, b: Array, index: Array, c: Array) -> Array:
    """v_smfmac of half, with the first and the last set of an index."""
    x, y = a.reshape(16, 16).astype(np.float32), b.reshape(32, 16).astype(np.float32)
    return np.concatenate([(spread(x, places) @ y).reshape(-1) + c for places in (LOW, HIGH)])


@mfma.program(
    a=integers(512, 1, -128, 128).astype(np.int8),
    b=integers(1024, 2, -128, 128).astype(np.int8),
    index=index_of(BYTES, 32, 8, 16),
    c=integers(1024, 3),
)
def sparse_bytes(a: Array, b: Array, index: Array, c: Array) -> Array:
    """v_smfmac of bytes, with the second set of an index."""
    x, y = a.reshape(32, 16).astype(np.int32), b.reshape(32, 32).astype(np.int32)
    return (spread(x, BYTES) @ y).reshape(-1) + c


@mfma.program(
    a=CODES["a"][:512], b=CODES["b"][:1024], index=index_of(EIGHTS, 16, 8, 0), c=integers(256, 3).astype(np.float32)
)
def sparse_fp8(a: Array, b: Array, index: Array, c: Array) -> Array:
    """v_smfmac of fp8 by bf8."""
    x, y = _decoded(a, "float8_e4m3fnuz").reshape(16, 32), _decoded(b, "float8_e5m2fnuz").reshape(64, 16)
    return (spread(x, EIGHTS) @ y).reshape(-1) + c


@mfma.program(x=numbers(64), target="gfx950")
def sparse_of_gfx950(x: Array) -> NeedsDevice:
    """Sparse products of gfx950's own shapes are not modelled."""
    return NeedsDevice("__builtin_amdgcn_smfmac_f32_16x16x64_f16")


def scales(count: int, seed: int) -> Array:
    """Exponents near 127, which is 1."""
    return integers(count, seed, 124, 131).astype(np.uint8)


@mfma.program(a=CODES["a"][:2048], b=CODES["b"][:2048], as_=scales(64, 3), bs=scales(64, 4), target="gfx950")
def scaled_fp8(a: Array, b: Array, as_: Array, bs: Array) -> tuple[Array, Array]:
    """fp8 by bf8 with a scale for each block of 32, in both shapes; scales in the third and in the first byte."""
    return tuple(
        _scaled(_decoded(a, "float8_e4m3fn").reshape(m, -1), as_, _decoded(b, "float8_e5m2").reshape(-1, m), bs)
        for m in (16, 32)
    )


@mfma.program(
    a=integers(1024, low=0, high=256).astype(np.uint8), b=CODES["b"][:2048], as_=scales(64, 3), target="gfx950"
)
def scaled_fp4(a: Array, b: Array, as_: Array) -> Array:
    """fp4 by fp8."""
    codes = np.stack([a & 15, a >> 4], 1).reshape(16, 128)
    sizes = np.float32([0, 0.5, 1, 1.5, 2, 3, 4, 6])[codes & 7] * np.where(codes & 8, -1, 1)
    return _scaled(sizes, as_, _decoded(b, "float8_e4m3fn").reshape(128, 16), np.full(64, 127, np.uint8))


@mfma.program(x=numbers(64), target="gfx950")
def scaled_fp6(x: Array) -> NeedsDevice:
    """Formats of six bits are not modelled."""
    return NeedsDevice("an instruction with operands that the CPU model lacks")


@mfma.program(x=numbers(32))
def half_a_wave(x: Array) -> NeedsDevice:
    """A matrix instruction in a block of 32 threads."""
    return NeedsDevice("reads registers of lanes that are switched off")


@mfma.program(x=numbers(256))
def rocwmma(x: Array) -> NeedsDevice:
    """rocWMMA is named as what is missing."""
    return NeedsDevice("rocwmma/rocwmma.hpp")


@mfma.program(x=integers(1), target="gfx90a")
def macros_of_gfx90a(x: Array) -> Array:
    """A candidate for gfx90a alone is modelled as such: macros, and what host code is told."""
    return np.int32([0x90A, 110, 64 << 10, 1])


@mfma.program(x=integers(1), target="gfx950")
def macros_of_gfx950(x: Array) -> Array:
    """A candidate for gfx950 alone is modelled as such: macros, and what host code is told."""
    return np.int32([0x950, 256, 160 << 10, 1])


test_mfma = mfma.test()


def _decoded(codes: Array, dtype: str) -> Array:
    return narrow_floats.table(dtype)[codes].astype(np.float32)


def _scaled(a: Array, a_scales: Array, b: Array, b_scales: Array) -> Array:
    """Rows of `a_scales` belong to rows of A, columns of `b_scales` to columns of B; each is for 32 numbers along k."""
    rows, columns = (2.0 ** (scale.astype(int) - 127) for scale in (a_scales, b_scales))
    x = a * np.repeat(rows.reshape(a.shape[0], -1), 32, 1)
    y = b * np.repeat(columns.reshape(-1, b.shape[1]), 32, 0)
    return (x @ y).astype(np.float32).reshape(-1)
