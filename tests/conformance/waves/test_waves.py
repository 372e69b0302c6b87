"""What lanes of a wave do together: shuffles, votes, permutations and what experts build of them."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, NeedsDevice, Refuses, integers, lane_masks, numbers

waves = Feature(__file__)
LANES = np.arange(64)
REPEATED = integers(64, 3, 0, 6)
LONGS = integers(64, 4, -(2**60), 2**60, np.int64)


@waves.program(
    i=integers(64),
    u=integers(64, 2, 0, 2**32, np.uint32),
    l=LONGS,
    ull=integers(64, 5, 0, 2**63, np.uint64),
    f=numbers(64),
    d=numbers(64, dtype=np.float64),
)
def shuffle_types(**x: Array) -> tuple[Array, ...]:
    """All types that AMD's header has a shuffle for."""
    return tuple(array[::-1] for array in x.values())


@waves.program(x=numbers(64, dtype=np.float16), bits=integers(64, dtype=np.int16))
def shuffle_half(x: Array, bits: Array) -> tuple[Array, Array, Array]:
    """half, half2 and bfloat16 travel as bits."""
    pairs = np.stack([x, np.roll(x, -1)], 1)[LANES ^ 32].reshape(-1)
    return np.roll(x, -1), pairs, np.where(LANES + 3 < 64, bits[(LANES + 3) % 64], bits)


@waves.program(x=numbers(64))
def shuffle_widths(x: Array) -> Array:
    """Segments of 2 to 64 lanes."""
    return np.concatenate([x[LANES // width * width + 1] for width in (2, 4, 8, 16, 32, 64)])


@waves.program(x=integers(64), sources=np.int32([16, 35, -1, -17, 1000]))
def shuffle_far_lanes(x: Array, sources: Array) -> Array:
    """A source lane out of range counts modulo the width."""
    return np.concatenate([*(x[LANES // 16 * 16 + source % 16] for source in sources), x[(LANES - 100) % 64]])


@waves.program(x=numbers(64, dtype=np.float64))
def shuffle_up_and_down(x: Array) -> Array:
    """The ends of a segment keep their own values."""
    rows = []
    for width in (64, 16, 4):
        place = LANES % width
        rows += [np.where(place >= 3, np.roll(x, 3), x), np.where(place + 3 < width, np.roll(x, -3), x), x]
    return np.concatenate(rows)


@waves.program(x=integers(64, dtype=np.uint32, low=0))
def shuffle_xor(x: Array) -> Array:
    """Partners by exclusive or, within and beyond a segment."""
    rows = []
    for width in (64, 8):
        for mask in (1, 2, 4, 8, 16, 32):
            partner = LANES ^ mask
            rows.append(x[np.where(partner >= (LANES // width + 1) * width, LANES, partner)])
    return np.concatenate(rows)


@waves.program(x=integers(64))
def shuffle_sync_in_halves(x: Array) -> Array:
    """`*_sync` in two branches, each with the mask of its lanes."""
    low, high = x[:32], x[32:]
    return np.concatenate([low[::-1], high[np.arange(32) ^ 16] + np.concatenate([high[:1], high[:-1]])])


@waves.program(x=numbers(64))
def sync_mask_of_absent_lanes(x: Array) -> Refuses:
    """A mask with lanes that are elsewhere fails AMD's assertion."""
    return Refuses("CRASHED", "assert")


@waves.program(x=numbers(64))
def sync_mask_of_32_bits(x: Array) -> Refuses:
    """A mask of 32 bits is an error: a wave has 64 lanes."""
    return Refuses("COMPILE_FAILED", "The mask must be a 64-bit integer")


@waves.program(x=integers(256, low=-100, high=100))
def votes(x: Array) -> tuple[Array, Array]:
    """ballot, any, all and activemask of waves of 64."""
    by_wave = x.reshape(4, 64)
    any_, all_ = (by_wave > 90).any(1), (by_wave > -90).all(1)
    return np.repeat(lane_masks(by_wave > 0), 64), np.repeat(4 * any_ + 2 * all_ + 1, 64).astype(np.int32)


@waves.program(x=integers(64, low=-400, high=1001))
def votes_sync(x: Array) -> Array:
    """Votes among the lanes of a mask only."""
    even = LANES % 2 == 0
    sides = [even, ~even]
    yes, top, least = (
        [lane_masks((x > 0) & side) for side in sides],
        [bool((x[side] == 1000).any()) for side in sides],
        [bool((x[side] >= -500).all()) for side in sides],
    )
    return np.concatenate([np.int64(row)[LANES % 2] for row in (yes, top, least)])


@waves.program(i=REPEATED, d=np.float64(REPEATED) / 7)
def match_any(i: Array, d: Array) -> tuple[Array, Array]:
    """The lanes that have the same value."""
    same = lane_masks(i[:, None] == i[None, :])
    return same, same


@waves.program(x=np.where(LANES // 16 % 2, REPEATED, 5).astype(np.int32))
def match_all_sync(x: Array) -> tuple[Array, Array]:
    """Whether all lanes of a mask agree."""
    quarter = LANES[:, None] // 16 == LANES[None, :] // 16
    agree = (~quarter | (x[:, None] == x[None, :])).all(1)
    every = np.array([agree[quarter[lane]].all() for lane in LANES])
    everyone = np.where(every, lane_masks(quarter), 0)
    return np.concatenate([everyone, lane_masks(quarter & (x[:, None] % 2 == x[None, :] % 2))]), every.astype(np.int32)


@waves.program(x=integers(64), uniform=50)
def read_lane(x: Array, uniform: int) -> Array:
    """One lane's value for all."""
    return np.repeat(x[[37, uniform, 0]], 64)


@waves.program(x=numbers(64))
def write_lane(x: Array) -> NeedsDevice:
    """v_writelane_b32 is there in assembly only."""
    return NeedsDevice("v_writelane_b32")


@waves.program(x=integers(128), from_=integers(128, 2, 0, 64))
def gather(x: Array, from_: Array) -> Array:
    """ds_bpermute_b32 within each of two waves."""
    each = np.arange(128) // 64 * 64 + from_
    return np.concatenate([x[each], x[each]])


@waves.program(x=integers(64), to=integers(64, 2, 0, 64))
def scatter(x: Array, to: Array) -> Array:
    """ds_permute_b32 with collisions and gaps."""
    out = np.zeros(64, np.int32)
    for lane in LANES:
        out[to[lane]] = x[lane]
    return out


@waves.program(x=integers(64))
def swizzle(x: Array) -> Array:
    """ds_swizzle_b32 by masks, by quads and by rotation."""
    half = LANES & 32
    sources = (half | (LANES ^ 31) & 31, half | LANES & 24 | 5, LANES ^ 16, LANES ^ 3, half | (LANES + 3) & 31)
    return np.concatenate([x[source] for source in sources])


@waves.program(x=integers(256))
def stream_compaction(x: Array) -> tuple[Array, Array]:
    """Each wave packs what it keeps, in order."""
    out, counts = np.zeros((4, 64), np.int32), []
    for row, wave in zip(out, x.reshape(4, 64), strict=True):
        kept = wave[np.fmod(wave, 3) == 0]
        row[: len(kept)] = kept
        counts.append(len(kept))
    return out.reshape(-1), np.int32(counts)


@waves.program(a=integers(64, 1, 0, 2**32, np.uint32), b=integers(64, 2, 0, 2**32, np.uint32))
def byte_permute(a: Array, b: Array) -> Array:
    """v_perm_b32 and __byte_perm."""
    eight = np.stack([b, a], 1).view(np.uint8).reshape(64, 8)
    sign = np.where(np.stack([b, b, a, a], 1) >> np.uint32([15, 31, 15, 31]) & 1, 255, 0).astype(np.uint8)
    zero, ones = np.zeros(64, np.uint8), np.full(64, 255, np.uint8)

    def word(*low_first: Array) -> Array:
        return np.stack(low_first, 1).reshape(-1).view(np.uint32)

    both = np.stack([a, b], 1).view(np.uint8).reshape(64, 8)
    return np.concatenate(
        [
            word(*(eight[:, i] for i in (1, 2, 3, 4))),
            word(eight[:, 7], eight[:, 6], ones, zero),
            word(*(sign[:, i] for i in (3, 1, 2, 0))),
            word(*(both[:, i] for i in (0, 2, 5, 7))),
        ]
    )


@waves.program(a=integers(64, 1, 0, dtype=np.uint32), b=integers(64, 2, 0, dtype=np.uint32), target="gfx950")
def permlane_swaps(a: Array, b: Array) -> Array:
    """v_permlane32_swap_b32 and v_permlane16_swap_b32 of gfx950."""
    rows_a, rows_b = a.reshape(4, 16), b.reshape(4, 16)
    return np.concatenate(
        [
            *(a[:32], b[:32], a[32:], b[32:]),
            *(rows_a[0], rows_b[0], rows_a[2], rows_b[2]),
            *(rows_a[1], rows_b[1], rows_a[3], rows_b[3]),
        ]
    )


@waves.program(x=integers(64), y=LONGS)
def wave_reduce(x: Array, y: Array) -> tuple[Array, Array]:
    """`__builtin_amdgcn_wave_reduce_*`."""
    as_unsigned = x.view(np.uint32)
    results = [x.sum(), -x.sum(), x.min(), x.max(), np.int32(as_unsigned.min()), as_unsigned.max().view(np.int32)]
    results += [np.bitwise_and.reduce(x | 3), np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x)]
    return np.repeat(np.int32(results), 64), np.repeat([y.sum(), y.max()], 64)


@waves.program(x=integers(64, low=-50, high=50))
def wave_compares(x: Array) -> tuple[Array, Array]:
    """icmp into a mask, and inverse_ballot."""
    masks = [lane_masks(x < 10), lane_masks(x.view(np.uint32) > 10), lane_masks(x % 2 == 0)]
    return np.repeat(masks, 64), (2 * LANES + np.isin(LANES, [0, 2, 32, 63])).astype(np.int32)


@waves.program(x=numbers(960))
def block_sum(x: Array) -> Array:
    """A reduction over five waves, in the order of its tree."""
    parts = x.reshape(3, 5, 64)
    for step in (32, 16, 8, 4, 2, 1):
        parts = parts[:, :, :step] + parts[:, :, step : 2 * step]
    last = np.concatenate([parts[:, :, 0], np.zeros((3, 3), np.float32)], 1)
    for step in (4, 2, 1):
        last = last[:, :step] + last[:, step : 2 * step]
    return last[:, 0]


@waves.program(x=numbers(128))
def bitonic_sort(x: Array) -> Array:
    """64 keys of a wave in order."""
    return np.sort(x.reshape(2, 64), 1).reshape(-1)


@waves.program(x=numbers(8 * 200, low=-8, high=8).reshape(8, 200), ulp=64)
def online_softmax(x: Array) -> Array:
    """Two numbers reduced as one."""
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return (powers / powers.sum(1, keepdims=True)).astype(np.float32)


@waves.program(x=numbers(1))
def waves_of_a_flat_block(x: Array) -> Array:
    """Which threads of a three-dimensional block are a wave."""
    flat = np.arange(192)
    starts = np.repeat((flat.reshape(3, 64) % 12 == 0).sum(1), 64)
    return (flat // 64 * 64 * 1000 + flat % 64 + 100000 * starts).astype(np.int32)


@waves.program(x=numbers(64), u=integers(64, low=0, dtype=np.uint32))
def header_spellings(x: Array, u: Array) -> tuple[Array, Array]:
    """`__hip_ds_*`."""
    to = LANES * 5 % 64
    return tuple(np.concatenate([y[to], y[np.argsort(to)], y[LANES ^ 1]]) for y in (x, u))


@waves.program(x=integers(512))
def register_transpose(x: Array) -> Array:
    """Matrices of 8 x 8 transposed by shuffles."""
    return x.reshape(8, 8, 8).transpose(0, 2, 1).reshape(-1)


@waves.program(x=integers(64, low=0))
def mask_arithmetic(x: Array) -> Array:
    """Bits of a ballot as lanes."""
    chosen = np.flatnonzero(x > 300)
    following = [min(chosen[chosen > lane], default=64) for lane in LANES]
    before = [max(chosen[chosen < lane], default=-1) for lane in LANES]
    heads = np.flatnonzero(np.diff(x // 500, prepend=-1))
    upto = [(chosen <= lane).sum() for lane in LANES]
    leads = [heads[heads <= lane].max() for lane in LANES]
    return np.concatenate([[chosen[0]] * 64, [chosen[-1]] * 64, following, before, upto, leads]).astype(np.int32)


@waves.program(x=numbers(256), atol=1e-6)
def exchange_without_barrier(x: Array) -> Array:
    """wave_barrier between the steps of one wave."""
    values = x.reshape(4, 64).astype(np.float64)
    for step in range(1, 5):
        values = 0.5 * values + 0.25 * np.roll(values, -step, 1) + 0.25 * np.roll(values, step, 1)
    return values.reshape(-1).astype(np.float32)


@waves.program(x=numbers(64), target="gfx950")
def transposed_lds_read(x: Array) -> NeedsDevice:
    """ds_read_b64_tr_b16 of gfx950 is named as missing."""
    return NeedsDevice("__builtin_amdgcn_ds_read_tr16_b64_v4i16")


test_waves = waves.test()
