"""Look-alikes of faults: naive checkers flag these patterns, and nothing may be found in any of them."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, integers, numbers

honest = Feature(__file__)

F = np.float32
ODD = {"x": numbers(1000)}
TILE = {"x": numbers(128)}
WHOLE = {"x": np.rint(numbers(64, low=-50, high=50))}


@honest.program(**ODD)
def guard_by_clamped_index(x: Array) -> Array:
    """Lanes beyond the end read the last element."""
    return x + np.append(x[1:], x[-1])


@honest.program(**ODD)
def padding_lanes_thrown_away(x: Array) -> Array:
    """What nobody wrote is read, and thrown away."""
    rows = np.append(x, np.zeros(24, F)).reshape(4, 256)
    left, right = (np.zeros_like(rows) for _ in range(2))
    left[:, 1:], right[:, :-1] = rows[:, :-1], rows[:, 1:]
    return (left + right).reshape(-1)[:1000]


@honest.program(x=numbers(512))
def all_write_one_value(x: Array) -> Array:
    """Threads write the same value to one place."""
    return np.repeat((x.reshape(-1, 256) > 0.9).any(axis=1), 256).astype(F)


@honest.program(**ODD)
def blocks_write_one_value(x: Array) -> Array:
    """Blocks write the same value to one place."""
    return np.array([(x > 0.5).any()], F)


@honest.program(x=numbers(256))
def initialised_by_every_thread(x: Array) -> Array:
    """All threads set a counter to zero, and a barrier follows."""
    return np.array([(x > 0).sum()], F)


@honest.program(x=numbers(100))
def early_exit_before_barriers(x: Array) -> Array:
    """Lanes without work leave, the others wait for one another."""
    return x[::-1]


@honest.program(**TILE)
def exit_after_the_last_barrier(x: Array) -> Array:
    """Lanes leave after the last barrier, others go on reading."""
    return x[::2] + x[1::2]


@honest.program(x=numbers(512))
def double_checked_flag(x: Array) -> Array:
    """A table that the first block makes and publishes; the others see a flag."""
    return x + np.tile(2 * np.arange(64, dtype=F), 8) + F(1)


@honest.program(**WHOLE)
def lock_of_blocks(x: Array) -> Array:
    """A sum behind a lock made of atomics and fences."""
    return np.array([x.sum()], F)


@honest.program(x=np.rint(numbers(512, low=-50, high=50)))
def last_block_sums(x: Array) -> Array:
    """The block that comes last reads what the others have published, and sets the counter back."""
    return np.array([x.sum()] * 2, F)


@honest.program(**ODD)
def overlapping_vector_loads(x: Array) -> Array:
    """Neighbours load vectors that share an element."""
    pairs = x[::2] + x[1::2]
    return ((pairs[:-1] + x[2::2]) + x[3::2]).astype(F)


@honest.program(x=numbers(1003))
def vectors_and_a_scalar_tail(x: Array) -> Array:
    """Whole vectors, and one by one what is left."""
    return 2 * x


@honest.program(**ODD)
def in_place(x: Array) -> Array:
    """A kernel that reads and writes one buffer, each thread its own element."""
    return x * x


@honest.program(**TILE)
def in_place_in_shared(x: Array) -> Array:
    """Each thread changes its own element without barriers."""
    for _ in range(3):
        x = x * F(0.5) + F(1)
    return x[::-1]


@honest.program(**ODD)
def in_place_swap_of_pairs(x: Array) -> Array:
    """Each thread swaps two elements that nobody else has."""
    return x[::-1]


@honest.program(**TILE)
def shared_used_again(x: Array) -> Array:
    """Others write what was read, with a barrier between."""
    tile = np.empty_like(x)
    tile[::-1] = x[::-1] + 1
    return tile[np.arange(128) ^ 1]


@honest.program(**TILE)
def shared_as_another_type(x: Array) -> Array:
    """The same memory as floats, then as bytes."""
    return (x[np.arange(128) ^ 64] > 0)[::-1].astype(F)


@honest.program(**ODD)
def own_writes_read_back(x: Array) -> Array:
    """A thread reads what it wrote to global memory itself."""
    return (x + 1) * 2 + (x + 1) * 2


@honest.program(**ODD)
def union_of_bits(x: Array) -> Array:
    """A number seen as bits and as halves."""
    return (x.view(np.uint32) & np.uint32(0x7FFF0000)).view(F)


@honest.program(x=numbers(64), rounds=0)
def loops_of_no_rounds(x: Array, rounds: int) -> Array:
    """Addresses far outside that no round of the loop touches."""
    return np.arange(64, dtype=F)


@honest.program(**ODD)
def nothing_to_do(x: Array) -> Array:
    """Empty copies, fills and launches at the very end of buffers."""
    return 2 * x


@honest.program(x=np.rint(numbers(480, low=-50, high=50)))
def scratch_larger_than_needed(x: Array) -> Array:
    """Rows in a scratch whose rest is never written."""
    return np.repeat(x.reshape(-1, 48).sum(axis=1), 48)


@honest.program(**ODD)
def structures_with_padding(x: Array) -> Array:
    """Copies of structures whose padding nobody wrote."""
    return (x.astype(np.float64)[::-1].astype(F) + F(1)) + np.arange(1000, dtype=F)[::-1]


@honest.program(x=numbers(128))
def halves_of_a_word(x: Array) -> Array:
    """Neighbours write the two halves of a word, in place."""
    half = x.astype(np.float16)
    return (half + half)[np.arange(128) ^ 1].astype(F)


@honest.program(x=integers(128, low=0, high=1000))
def halves_of_a_word_by_waves(x: Array) -> Array:
    """Two waves share words of which each owns a half, without a barrier between them."""
    mine = x.reshape(64, 2)
    for _ in range(4):
        mine = mine + mine[np.arange(64) ^ 1]
    return (mine % 65536).reshape(-1).astype(np.int32)


@honest.program(x=numbers(256))
def bytes_of_a_word(x: Array) -> Array:
    """Four threads write the bytes of a word, others read it whole after a barrier."""
    t = np.arange(256)
    tile = t + t % 2
    made = np.empty(256, np.int64)
    made[t ^ 3] = tile % 256
    return made.astype(F)


@honest.program(**ODD)
def bytes_of_a_word_by_blocks(x: Array) -> Array:
    """Words at the border of two blocks: each changes its own bytes."""
    return (x > 0) + F(2)


@honest.program(**TILE)
def flags_by_atomic_or(x: Array) -> Array:
    """Bits set by atomics, read plainly after a barrier."""
    return (x > 0).astype(F)


@honest.program(**TILE)
def one_barrier_a_round(x: Array) -> Array:
    """Two buffers in turn want one barrier a round."""
    return np.roll(x, -5)


@honest.program(**ODD)
def launches_in_turn(x: Array) -> Array:
    """What one launch wrote, the next reads in other blocks."""
    return np.roll(x, -7)


@honest.program(**TILE)
def exchange_within_a_wave(x: Array) -> Array:
    """A wave exchanges through shared memory with a fence and a barrier of the wave."""
    return x[np.arange(128) ^ 63]


@honest.program(x=np.rint(numbers(128, low=-50, high=50)))
def volatile_tail(x: Array) -> Array:
    """The last wave adds up in lockstep, and says `volatile`."""
    return np.array([x.sum()], F)


@honest.program(**TILE)
def broadcast_of_one_word(x: Array) -> Array:
    """All read one word, which is written again after a barrier."""
    return np.concatenate([x / (x[k] + F(2)) for k in range(3)])


@honest.program(**TILE)
def atomics_then_a_barrier(x: Array) -> Array:
    """Plain accesses before and after atomics, with barriers between."""
    low = (x < 0).sum()
    return np.full(128, low * 1000 + 128 - low, F)


@honest.program(**ODD)
def plain_read_before_a_swap(x: Array) -> Array:
    """The loop around a compare-and-swap starts with a plain read."""
    return np.array([max(x.max(), 0)], F)


@honest.program(x=numbers(1000), place=np.random.default_rng(2).permutation(1000).astype(np.int32))
def scatter_by_a_permutation(x: Array, place: Array) -> Array:
    """Writes to places that only the data keeps apart."""
    out = np.empty_like(x)
    out[place] = x
    return out


@honest.program(**ODD)
def stencil_with_a_halo(x: Array) -> Array:
    """Blocks read across their borders, and write within them."""
    padded = np.concatenate([[F(0)], x, [F(0)]]).astype(F)
    return (padded[:-2] + padded[1:-1]) + padded[2:]


@honest.program(x=numbers(256))
def tile_with_a_padding_column(x: Array) -> Array:
    """A column that is there for the banks only."""
    return x.reshape(16, 16).T.reshape(-1)


@honest.program(x=np.rint(numbers(200, low=-50, high=50)))
def partly_filled_tile(x: Array) -> Array:
    """The rest of a tile is read, and takes no part."""
    return np.full(200, x.sum(), F)


@honest.program(**ODD)
def filled_by_strides(x: Array) -> Array:
    """A table filled by fewer threads than it has elements."""
    return x[::-1]


@honest.program(**TILE)
def flag_between_waves(x: Array) -> Array:
    """A wave polls a flag that another one sets after a fence."""
    return np.tile(x[:64] + F(1), 2)


@honest.program(**ODD)
def local_set_on_every_path(x: Array) -> Array:
    """Variables that are set where they are used, though no compiler can tell."""
    i = np.arange(1000)
    return x * (i % 4).astype(F) + np.array([1, 2, 3], F)[i % 3]


@honest.program(**WHOLE)
def pointer_past_the_end(x: Array) -> Array:
    """An end that is compared with, and never read."""
    return np.array([x.sum()], F)


@honest.program(**ODD)
def pointer_before_the_start(x: Array) -> Array:
    """A base before the buffer, with indices from one."""
    return 2 * x


@honest.program(**TILE)
def several_arrays_in_dynamic_shared(x: Array) -> Array:
    """Dynamic shared memory divided up, to its last byte."""
    return x[:64][::-1] + x[64:][::-1] + (x[:64] > 0)[::-1].astype(F)


@honest.program(x=np.rint(numbers(256, low=-50, high=50)))
def barrier_in_a_uniform_loop(x: Array) -> Array:
    """Blocks wait for different numbers of rounds, their threads for the same."""
    rows = np.cumsum(x.reshape(-1, 64), axis=0)
    return rows[:, np.arange(64) ^ 1].reshape(-1).astype(F)


@honest.program(**TILE)
def barriers_of_whole_waves(x: Array) -> Array:
    """Each wave as a whole waits at a barrier of its own."""
    return np.concatenate([x[64:], 2 * x[:64]])


@honest.program(**ODD)
def absent_argument(x: Array) -> Array:
    """Null pointers that the kernel asks about first."""
    return 2 * x


@honest.program(**ODD)
def freed_after_the_launch(x: Array) -> Array:
    """Memory that is given back in the order of the stream."""
    return x + F(1) + F(1) + F(1) + F(1)


@honest.program(**ODD)
def struct_of_arrays_in_one_buffer(x: Array) -> Array:
    """Arrays of three types in one scratch."""
    last = x[::-1]
    return (last + np.arange(1000, dtype=F)[::-1]) + -last


@honest.program(x=np.rint(numbers(24, low=-50, high=50)))
def counter_that_wraps_to_zero(x: Array) -> Array:
    """A ticket that is zero again after each launch."""
    return x.reshape(3, 8).sum(axis=1)


@honest.program(x=numbers(64))
def column_of_bytes_in_a_row_of_words(x: Array) -> Array:
    """Bytes written where words were read, and words read where bytes were written."""
    values = np.arange(64) ^ 32
    words = np.concatenate([(0x01 * values + byte) % 256 for byte in range(4)])
    return words.reshape(64, 4)[:, 0].astype(F)


@honest.program(x=numbers(512))
def blocks_take_work_by_tickets(x: Array) -> Array:
    """Persistent blocks that leave together when nothing is left."""
    return x * F(3)


@honest.program(**ODD)
def streams_joined_by_events(x: Array) -> Array:
    """Streams that begin after one another and end in the caller's."""
    return x * F(4)


@honest.program(**ODD)
def streams_of_their_own_halves(x: Array) -> Array:
    """Two streams write parts of one buffer that touch each other."""
    return x[::-1]


@honest.program(**ODD)
def streams_by_the_default_stream(x: Array) -> Array:
    """The default stream stands between two others."""
    return x * F(8)


@honest.program(**ODD)
def streams_awaited_by_host_code(x: Array) -> Array:
    """Host code waits for streams, for events and for the device."""
    return x * F(16)


@honest.program(x=numbers(1008))
def vectors_copied_whole(x: Array) -> Array:
    """Structures of vectors go from memory to memory."""
    rows = x.reshape(-1, 16)
    place = np.arange(63) ^ 1
    return rows[np.where(place < 63, place, np.arange(63))].reshape(-1)


@honest.program(**ODD)
def structures_partly_set(x: Array) -> Array:
    """Structures are copied whose members are not all set."""
    return np.where(x > 0, x, F(-1)).astype(F)


@honest.program(x=np.rint(numbers(128, low=-50, high=50)))
def barriers_of_helpers(x: Array) -> Array:
    """Functions that wait, in branches of whole waves, in loops, by themselves."""
    v = np.concatenate([x[64:], 2 * x[:64]])
    third = np.arange(128) % 3 == 0
    for _ in range(2):
        v = (v + third)[np.arange(128) ^ 64] - third
    return np.roll(v, 64)


@honest.program(**TILE)
def barriers_after_uneven_branches(x: Array) -> Array:
    """Lanes come to barriers from different places."""
    t = np.arange(128)
    v = x.copy()
    for i in range(128):
        v = np.where((t % 5 == 2) & (i < t), np.where(v > 0, v - F(1), v + F(1)), v)
    v = np.select([t % 5 == 0, t % 5 == 1, t % 5 == 2], [F(1), F(-1), v], np.where(t & 8, F(2), F(-2))).astype(F)
    tile = np.zeros(128, F)
    for i in range(3):
        tile = np.where(t % 2 == 1, tile + v, np.where(v < 0, tile - v, tile)).astype(F)
        v = np.where(tile[t ^ 1] > 0, F(1), F(-1))
        tile = np.where(t % 7 == i, tile, tile + F(1))
    tile = np.where(v > 0, tile + v, tile - F(1)).astype(F)
    return tile[t ^ 2]


@honest.program(x=np.rint(numbers(1000, low=-50, high=50)))
def look_back_scan(x: Array) -> Array:
    """A scan in one pass whose blocks look back for the sums of those before them."""
    return np.cumsum(x).astype(F)


@honest.program(x=np.rint(numbers(640, low=-50, high=50)))
def look_back_by_volatile_flags(x: Array) -> Array:
    """Blocks that wait for their neighbour by a volatile flag."""
    return np.cumsum(x.reshape(5, 128).sum(axis=1)).astype(F)


@honest.program(
    a=np.rint(numbers(33 * 50, low=-9, high=9)).reshape(33, 50), b=np.rint(numbers(50 * 20, 2, -9, 9)).reshape(50, 20)
)
def split_k_by_atomics(a: Array, b: Array) -> Array:
    """Slices of a product that are added up by atomics."""
    return (a @ b).astype(F)


@honest.program(x=np.rint(numbers(640, low=-50, high=50)))
def double_buffer_with_prefetch(x: Array) -> Array:
    """Two buffers in turn, the next values in registers."""
    rows, t = x.reshape(5, 128), np.arange(128)
    return (rows[:, 127 - t] - rows[:, t ^ 5]).sum(axis=0).astype(F)


@honest.program(**ODD)
def restricted_in_place(x: Array) -> Array:
    """One buffer by two pointers that promise to differ."""
    return (x * F(2) + F(1)) * F(2) + F(1)


@honest.program(x=np.rint(numbers(1500, low=-50, high=50)).reshape(3, 500))
def sums_by_shuffles(x: Array) -> Array:
    """Sums of a block by shuffles and a word for each wave, twice."""
    return x - x.sum(axis=1, keepdims=True)


@honest.program(x=np.rint(numbers(300, low=-9, high=9)) / F(2))
def leaves_together_by_votes(x: Array) -> Array:
    """A loop that all leave when a flag or a vote says so."""
    for _ in range(9):
        x = np.where(x > 1, x - F(1), np.where(x < -1, x + F(1), x)).astype(F)
    return x


@honest.program(**ODD)
def packed_maximum(x: Array) -> Array:
    """A value and its place in one word for an atomic."""
    return np.array([x.argmax()], np.int32)


@honest.program(x=numbers(256))
def waves_hand_over(x: Array) -> Array:
    """A wave fills slots that another one takes."""
    return x.reshape(4, 64)[:, ::-1].reshape(-1)


test_honest = honest.test()
