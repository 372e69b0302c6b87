"""Planted faults: each is found, with its kind, its line, and what it touched."""

from __future__ import annotations

import numpy as np

from kernelvault.v1 import kernel_pb2
from tests.conformance.harness import Array, Feature, Unsafe, numbers

checker = Feature(__file__)

X = {"x": numbers(1000)}


@checker.program(**X)
def write_one_past(x: Array) -> Unsafe:
    """One element beyond the end of the output."""
    return Unsafe(
        "OUT_OF_BOUNDS",
        ("writes 4 bytes", "out0", "thread (232, 0, 0) of block (3, 0, 0)"),
        kernel="copy",
        buffer="out0",
        block=(3, 0, 0),
        thread=(232, 0, 0),
    )


@checker.program(**X)
def read_one_past(x: Array) -> Unsafe:
    """A neighbour that the last element lacks."""
    return Unsafe(
        "OUT_OF_BOUNDS", ("reads 4 bytes", "'x'"), kernel="shift", buffer="x", block=(3, 0, 0), thread=(231, 0, 0)
    )


@checker.program(**X)
def read_before_start(x: Array) -> Unsafe:
    """A neighbour that the first element lacks."""
    return Unsafe(
        "OUT_OF_BOUNDS", ("reads 4 bytes", "byte -4"), kernel="shift", buffer="x", block=(0, 0, 0), thread=(0, 0, 0)
    )


@checker.program(**X)
def write_far(x: Array) -> Unsafe:
    """Four megabytes beyond."""
    return Unsafe(
        "OUT_OF_BOUNDS",
        ("thread (7, 0, 0) of block (0, 0, 0)",),
        kernel="copy",
        buffer="out0",
        block=(0, 0, 0),
        thread=(7, 0, 0),
    )


@checker.program(**X)
def overflowing_index(x: Array) -> Unsafe:
    """An index of 32 bits that wrapped around."""
    return Unsafe("OUT_OF_BOUNDS", ("'x'",), kernel="copy", buffer="x", block=(0, 0, 0), thread=(1, 0, 0))


@checker.program(**X)
def vector_over_the_end(x: Array) -> Unsafe:
    """A load of 16 bytes where nothing is left."""
    return Unsafe("OUT_OF_BOUNDS", ("16 bytes", "'x'"), kernel="copy", buffer="x", block=(0, 0, 0), thread=(250, 0, 0))


@checker.program(**X)
def vector_across_the_end(x: Array) -> Unsafe:
    """A load whose first half is inside."""
    return Unsafe("OUT_OF_BOUNDS", ("'x'",), kernel="tail", buffer="x", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(**X)
def atomic_past(x: Array) -> Unsafe:
    """An atomic beyond the end."""
    return Unsafe("OUT_OF_BOUNDS", ("out0",), kernel="count", buffer="out0", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(**X)
def member_past(x: Array) -> Unsafe:
    """A member of an element that is not there."""
    return Unsafe("OUT_OF_BOUNDS", ("'x'",), kernel="seconds", buffer="x", block=(1, 0, 0), thread=(244, 0, 0))


@checker.program(**X)
def wrong_row_stride(x: Array) -> Unsafe:
    """A transpose with the stride of the other matrix."""
    return Unsafe("OUT_OF_BOUNDS", ("out0",), kernel="transpose", buffer="out0", block=(0, 0, 0), thread=(25, 0, 0))


@checker.program(**X)
def helper_past(x: Array) -> Unsafe:
    """In a function that the kernel calls."""
    return Unsafe("OUT_OF_BOUNDS", ("'x'",), kernel="shift", buffer="x", block=(3, 0, 0), thread=(227, 0, 0))


@checker.program(**X)
def scratch_past(x: Array) -> Unsafe:
    """A scratch buffer that is one element too small."""
    return Unsafe(
        "OUT_OF_BOUNDS",
        ("scratch", "3996 bytes"),
        kernel="copy",
        buffer="scratch 1",
        block=(3, 0, 0),
        thread=(231, 0, 0),
    )


@checker.program(**X)
def static_shared_one_past(x: Array) -> Unsafe:
    """One beyond a shared array, where another one may lie."""
    return Unsafe(
        "OUT_OF_BOUNDS", ("'tile'", "256 bytes"), kernel="shift", buffer="tile", block=(0, 0, 0), thread=(63, 0, 0)
    )


@checker.program(**X)
def static_shared_far(x: Array) -> Unsafe:
    """Far beyond a shared array."""
    return Unsafe("OUT_OF_BOUNDS", ("'tile'",), kernel="scatter", buffer="tile", block=(0, 0, 0), thread=(1, 0, 0))


@checker.program(**X)
def shared_row_past(x: Array) -> Unsafe:
    """The row below the last."""
    return Unsafe("OUT_OF_BOUNDS", ("'tile'",), kernel="rows", buffer="tile", block=(0, 0, 0), thread=(56, 0, 0))


@checker.program(**X)
def dynamic_shared_past(x: Array) -> Unsafe:
    """More dynamic shared memory than the launch gave."""
    return Unsafe(
        "OUT_OF_BOUNDS",
        ("dynamic shared memory", "252 bytes"),
        kernel="shift",
        buffer="dynamic shared memory",
        block=(0, 0, 0),
        thread=(63, 0, 0),
    )


@checker.program(**X)
def dynamic_shared_not_given(x: Array) -> Unsafe:
    """Dynamic shared memory that nobody asked for."""
    return Unsafe(
        "OUT_OF_BOUNDS",
        ("dynamic shared memory", "0 bytes"),
        kernel="shift",
        buffer="dynamic shared memory",
        block=(0, 0, 0),
        thread=(0, 0, 0),
    )


@checker.program(**X)
def module_variable_past(x: Array) -> Unsafe:
    """Beyond a variable of the module."""
    return Unsafe("OUT_OF_BOUNDS", ("'table'",), kernel="fill", buffer="table", block=(0, 0, 0), thread=(32, 0, 0))


@checker.program(**X)
def constant_past(x: Array) -> Unsafe:
    """Beyond a constant table."""
    return Unsafe("OUT_OF_BOUNDS", ("'weights'",), kernel="weigh", buffer="weights", block=(0, 0, 0), thread=(4, 0, 0))


@checker.program(**X)
def freed_before_the_launch(x: Array) -> Unsafe:
    """A buffer that was freed before the kernel ran."""
    return Unsafe("USE_AFTER_FREE", ("`copy(", "4000 bytes"), kernel="copy", buffer="scratch 1")


@checker.program(**X)
def freed_in_order(x: Array) -> Unsafe:
    """One that its stream has given back."""
    return Unsafe("USE_AFTER_FREE", ("`copy(", "4000 bytes"), kernel="copy", buffer="scratch 1")


@checker.program(**X)
def race_without_a_barrier(x: Array) -> Unsafe:
    """A tile that is read before all have written it."""
    return Unsafe(
        "RACE",
        ("'tile'", "no barrier"),
        ("UNINITIALIZED_READ",),
        kernel="reverse",
        buffer="tile",
        block=(0, 0, 0),
        thread=(128, 0, 0),
    )


@checker.program(**X)
def race_of_writers(x: Array) -> Unsafe:
    """Several threads write other values to one place."""
    return Unsafe(
        "RACE", ("'slot'", "writes 4 bytes"), kernel="collide", buffer="slot", block=(0, 0, 0), thread=(4, 0, 0)
    )


@checker.program(**X)
def race_second_barrier(x: Array) -> Unsafe:
    """A loop without the barrier after its reads."""
    return Unsafe("RACE", ("'tile'",), kernel="rounds", buffer="tile", block=(0, 0, 0), thread=(64, 0, 0))


@checker.program(**X)
def race_one_missing_of_halves(x: Array) -> Unsafe:
    """The same with two elements in a word."""
    return Unsafe("RACE", ("'tile'", "2 bytes"), kernel="rounds", buffer="tile", block=(0, 0, 0), thread=(64, 0, 0))


@checker.program(**X)
def race_between_blocks(x: Array) -> Unsafe:
    """Blocks that write one place."""
    return Unsafe("RACE", ("out0", "another block"), kernel="last", buffer="out0", block=(1, 0, 0), thread=(0, 0, 0))


@checker.program(**X)
def race_read_of_another_block(x: Array) -> Unsafe:
    """A block that reads what another one writes."""
    return Unsafe(
        "RACE",
        ("out0", "another block"),
        ("UNINITIALIZED_READ",),
        kernel="chain",
        buffer="out0",
        block=(1, 0, 0),
        thread=(0, 0, 0),
    )


@checker.program(**X)
def race_lost_updates(x: Array) -> Unsafe:
    """A sum without atomics."""
    return Unsafe("RACE", ("out0",), kernel="sum", buffer="out0", block=(0, 0, 0), thread=(1, 0, 0))


@checker.program(**X)
def race_with_an_atomic(x: Array) -> Unsafe:
    """A plain write beside atomics, without a barrier between."""
    return Unsafe("RACE", ("'total'",), kernel="mixed", buffer="total", block=(0, 0, 0), thread=(1, 0, 0))


@checker.program(**X)
def race_in_the_tail(x: Array) -> Unsafe:
    """A wave that relies on lockstep without `volatile`."""
    return Unsafe("RACE", ("'part'",), kernel="reduce", buffer="part", block=(0, 0, 0), thread=(32, 0, 0))


@checker.program(**X)
def race_unpublished(x: Array) -> Unsafe:
    """The last block reads what no fence has published."""
    return Unsafe("RACE", ("another block",), kernel="sum", buffer="scratch 1", block=(15, 0, 0), thread=(0, 0, 0))


@checker.program(**X)
def uninitialised_scratch(x: Array) -> Unsafe:
    """Scratch memory that nobody filled."""
    return Unsafe(
        "UNINITIALIZED_READ",
        ("scratch", "nobody has written"),
        kernel="add",
        buffer="scratch 1",
        block=(0, 0, 0),
        thread=(0, 0, 0),
    )


@checker.program(**X)
def uninitialised_output(x: Array) -> Unsafe:
    """An output is not zero before it is written."""
    return Unsafe("UNINITIALIZED_READ", ("out0",), kernel="add", buffer="out0", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(**X)
def uninitialised_shared(x: Array) -> Unsafe:
    """The half of a tile that nobody filled."""
    return Unsafe("UNINITIALIZED_READ", ("'tile'",), kernel="half", buffer="tile", block=(0, 0, 0), thread=(64, 0, 0))


@checker.program(**X)
def uninitialised_dynamic_shared(x: Array) -> Unsafe:
    """A sum in shared memory that begins with anything."""
    return Unsafe(
        "UNINITIALIZED_READ",
        ("dynamic shared memory",),
        kernel="sum",
        buffer="dynamic shared memory",
        block=(0, 0, 0),
        thread=(0, 0, 0),
    )


@checker.program(**X)
def uninitialised_counter(x: Array) -> Unsafe:
    """A counter that was never set to zero."""
    return Unsafe(
        "UNINITIALIZED_READ",
        ("nobody has written",),
        kernel="count",
        buffer="scratch 1",
        block=(0, 0, 0),
        thread=(0, 0, 0),
    )


@checker.program(**X)
def pointer_to_the_stack(x: Array) -> Unsafe:
    """The address of a host variable."""
    return Unsafe("HOST_POINTER", (), kernel="scale")


@checker.program(**X)
def pointer_to_the_heap(x: Array) -> Unsafe:
    """The address of host memory."""
    return Unsafe("HOST_POINTER", (), kernel="scale")


@checker.program(**X)
def null_pointer(x: Array) -> Unsafe:
    """An optional argument that is not there."""
    return Unsafe("HOST_POINTER", ("null pointer",), kernel="copy", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(**X)
def pointer_in_a_struct(x: Array) -> Unsafe:
    """The address of a host variable in a structure."""
    return Unsafe("HOST_POINTER", (), kernel="scale")


@checker.program(**X)
def barrier_in_a_branch(x: Array) -> Unsafe:
    """Half of a wave waits."""
    return Unsafe("DIVERGENT_BARRIER", ("of the same wave",), kernel="half", block=(0, 0, 0), thread=(31, 0, 0))


@checker.program(**X)
def two_barriers(x: Array) -> Unsafe:
    """Two halves of a wave wait in two places."""
    return Unsafe("DIVERGENT_BARRIER", ("another barrier",), kernel="halves", block=(0, 0, 0), thread=(63, 0, 0))


@checker.program(**X)
def barrier_in_an_uneven_loop(x: Array) -> Unsafe:
    """Lanes wait for different numbers of rounds."""
    return Unsafe("DIVERGENT_BARRIER", (), kernel="rounds", block=(0, 0, 0), thread=(62, 0, 0))


@checker.program(**X)
def misaligned_float4(x: Array) -> Unsafe:
    """A vector at an odd half of an element."""
    return Unsafe("MISALIGNED", ("which is not aligned",), kernel="copy", buffer="x", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(**X)
def misaligned_double(x: Array) -> Unsafe:
    """A double at the address of a float."""
    return Unsafe("MISALIGNED", ("8 bytes",), kernel="copy", buffer="x", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(**X)
def into_the_neighbour(x: Array) -> Unsafe:
    """An index that runs on towards the next buffer."""
    return Unsafe(
        "OUT_OF_BOUNDS",
        ("writes 4 bytes at byte 4000",),
        kernel="spread",
        buffer="scratch 1",
        block=(0, 0, 0),
        thread=(0, 0, 0),
    )


@checker.program(**X)
def write_before_start(x: Array) -> Unsafe:
    """An index that begins at minus one."""
    return Unsafe(
        "OUT_OF_BOUNDS", ("writes 4 bytes", "byte -4"), buffer="out0", thread=(0, 0, 0), kernel="shift", block=(0, 0, 0)
    )


@checker.program(x=numbers(998))
def vector_store_over_the_end(x: Array) -> Unsafe:
    """A store of 16 bytes where half of them are left."""
    return Unsafe(
        "OUT_OF_BOUNDS", ("writes 16 bytes",), buffer="out0", thread=(249, 0, 0), kernel="doubled", block=(0, 0, 0)
    )


@checker.program(**X)
def columns_beyond_the_last_row(x: Array) -> Unsafe:
    """A tile in two dimensions with a guard in one."""
    return Unsafe(
        "OUT_OF_BOUNDS",
        ("reads 4 bytes", "writes 4 bytes"),
        block=(0, 1, 0),
        thread=(0, 4, 0),
        kernel="doubled",
        buffer="x",
    )


@checker.program(**X)
def shared_before_start(x: Array) -> Unsafe:
    """The element before the first of a shared array."""
    return Unsafe("OUT_OF_BOUNDS", ("byte -4",), buffer="tile", thread=(0, 0, 0), kernel="neighbours", block=(0, 0, 0))


@checker.program(**X)
def shared_far_before_start(x: Array) -> Unsafe:
    """Far before a shared array."""
    return Unsafe(
        "OUT_OF_BOUNDS", ("byte -4000",), buffer="tile", kernel="neighbours", block=(0, 0, 0), thread=(0, 0, 0)
    )


@checker.program(**X)
def dynamic_shared_before_start(x: Array) -> Unsafe:
    """Before dynamic shared memory."""
    return Unsafe(
        "OUT_OF_BOUNDS",
        ("byte -4",),
        buffer="dynamic shared memory",
        kernel="neighbours",
        block=(0, 0, 0),
        thread=(0, 0, 0),
    )


@checker.program(**X)
def module_variable_before_start(x: Array) -> Unsafe:
    """Before a variable of the module."""
    return Unsafe("OUT_OF_BOUNDS", ("byte -8",), kernel="take", buffer="table", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(**X)
def shared_into_the_next_array(x: Array) -> Unsafe:
    """An index of one shared array that would reach another."""
    return Unsafe("OUT_OF_BOUNDS", ("byte 256",), buffer="first", kernel="two", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(**X)
def shared_atomic_past(x: Array) -> Unsafe:
    """An atomic beyond a shared array, by one thread of the second wave."""
    return Unsafe("OUT_OF_BOUNDS", buffer="bins", thread=(70, 0, 0), kernel="histogram", block=(0, 0, 0))


@checker.program(**X, row=4)
def shared_member_past(x: Array, row: int) -> Unsafe:
    """A row beyond the last of a member."""
    return Unsafe("OUT_OF_BOUNDS", ("144 bytes",), buffer="tile", kernel="rows", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(**X)
def helper_called_twice(x: Array) -> Unsafe:
    """A helper that is right in one place and wrong in another: the line of its caller is told."""
    return Unsafe(
        "OUT_OF_BOUNDS",
        ("called from helper_called_twice.hip:10",),
        buffer="x",
        kernel="sum",
        block=(3, 0, 0),
        thread=(231, 0, 0),
    )


@checker.program(**X)
def copied_beyond_the_end(x: Array) -> Unsafe:
    """A copy of more than there is, before any kernel."""
    return Unsafe("OUT_OF_BOUNDS", ("4004 bytes",), buffer="x")


@checker.program(**X)
def pointer_of_a_temporary(x: Array) -> Unsafe:
    """Memory whose owner is gone when the kernel starts."""
    return Unsafe("USE_AFTER_FREE", ("4000 bytes",), kernel="copy", buffer="scratch 1")


@checker.program(**X)
def freed_member(x: Array) -> Unsafe:
    """A member of a structure points to what was freed."""
    return Unsafe("USE_AFTER_FREE", ("'scratch 2' of 8000 bytes",), kernel="add", buffer="scratch 2")


@checker.program(**X)
def freed_and_filled(x: Array) -> Unsafe:
    """What was freed is set to zero."""
    return Unsafe("USE_AFTER_FREE", ("a copy or fill uses", "512 bytes"), buffer="scratch 1")


@checker.program(**X, format=kernel_pb2.Candidate.HIP_TORCH)
def freed_tensor(x: Array) -> Unsafe:
    """The data of a tensor that is gone."""
    words = ("8000 bytes", "keep the tensor that owns it")
    return Unsafe("USE_AFTER_FREE", words, kernel="twice", buffer="scratch 2")


@checker.program(**X)
def race_between_waves(x: Array) -> Unsafe:
    """A barrier of the wave where one of the block is wanted."""
    return Unsafe("RACE", ("no barrier",), buffer="tile", thread=(0, 0, 0), kernel="exchange", block=(0, 0, 0))


@checker.program(**X)
def race_after_a_read(x: Array) -> Unsafe:
    """No barrier between reading neighbours and writing in place."""
    return Unsafe("RACE", ("wrote", "read, with"), buffer="tile", kernel="shift", block=(0, 0, 0), thread=(1, 0, 0))


@checker.program(x=numbers(128))
def race_in_global_memory(x: Array) -> Unsafe:
    """Threads of a block exchange through global memory without a barrier."""
    return Unsafe("RACE", buffer="scratch 1", thread=(28, 0, 0), kernel="shift", block=(0, 0, 0))


@checker.program(**X)
def race_in_place_stencil(x: Array) -> Unsafe:
    """Neighbours read in place what others write."""
    return Unsafe("RACE", ("another block",), buffer="out0", kernel="blur", block=(0, 0, 0), thread=(1, 0, 0))


@checker.program(x=numbers(256))
def race_of_a_variable(x: Array) -> Unsafe:
    """Blocks add to a module variable without atomics."""
    return Unsafe("RACE", ("another block",), buffer="total", block=(1, 0, 0), kernel="sum", thread=(0, 0, 0))


@checker.program(x=numbers(128))
def race_of_vectors(x: Array) -> Unsafe:
    """Vectors that overlap by half."""
    return Unsafe("RACE", ("writes 8 bytes",), buffer="out0", kernel="spread", block=(0, 0, 0), thread=(1, 0, 0))


@checker.program(x=numbers(4))
def race_of_unlocked_readers(x: Array) -> Unsafe:
    """A lock without fences."""
    return Unsafe("RACE", ("another block",), buffer="out0", kernel="add", block=(1, 0, 0), thread=(0, 0, 0))


@checker.program(x=numbers(128))
def race_of_bytes(x: Array) -> Unsafe:
    """Two waves write the same bytes."""
    return Unsafe("RACE", ("writes 1 bytes",), buffer="flags", thread=(64, 0, 0), kernel="marks", block=(0, 0, 0))


@checker.program(x=numbers(128))
def race_behind_the_other_half(x: Array) -> Unsafe:
    """The other half of the word is written between the two that race."""
    return Unsafe("RACE", ("wrote",), buffer="tile", thread=(128, 0, 0), kernel="halves", block=(0, 0, 0))


@checker.program(x=numbers(128))
def race_behind_another_reader(x: Array) -> Unsafe:
    """The other half of the word is read between the two that race."""
    return Unsafe(
        "RACE",
        ("thread (0, 0, 0) of the same block read",),
        buffer="tile",
        thread=(128, 0, 0),
        kernel="halves",
        block=(0, 0, 0),
    )


@checker.program(x=numbers(256))
def race_behind_a_byte(x: Array) -> Unsafe:
    """Other bytes of the word are written between the two that race."""
    return Unsafe(
        "RACE",
        ("thread (0, 0, 0) of the same block wrote",),
        buffer="tile",
        thread=(192, 0, 0),
        kernel="bytes",
        block=(0, 0, 0),
    )


@checker.program(x=numbers(128))
def uninitialised_half_of_a_word(x: Array) -> Unsafe:
    """Every second half is written, all are read."""
    return Unsafe(
        "UNINITIALIZED_READ",
        ("reads 2 bytes at byte 2",),
        kernel="all",
        buffer="scratch 1",
        block=(0, 0, 0),
        thread=(1, 0, 0),
    )


@checker.program(x=numbers(480))
def uninitialised_padding_of_rows(x: Array) -> Unsafe:
    """The padding of rows is summed up with them."""
    return Unsafe("UNINITIALIZED_READ", kernel="sums", buffer="scratch 1", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(x=numbers(100))
def half_written_in_shared(x: Array) -> Unsafe:
    """A tile whose rest takes part in a sum."""
    return Unsafe("UNINITIALIZED_READ", ("byte 400",), buffer="tile", kernel="tail", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(x=numbers(128))
def misaligned_half2(x: Array) -> Unsafe:
    """A pair of halves at an odd half."""
    return Unsafe(
        "MISALIGNED",
        ("reads 4 bytes at byte 2",),
        buffer="scratch 1",
        kernel="pairs",
        block=(0, 0, 0),
        thread=(0, 0, 0),
    )


@checker.program(x=numbers(128))
def misaligned_in_shared(x: Array) -> Unsafe:
    """Rows of an odd number of halves, read in pairs."""
    return Unsafe("MISALIGNED", buffer="tile", kernel="rows", block=(0, 0, 0), thread=(1, 0, 0))


@checker.program(x=numbers(64))
def misaligned_atomic(x: Array) -> Unsafe:
    """An atomic across two words."""
    return Unsafe("MISALIGNED", buffer="scratch 1", thread=(1, 0, 0), kernel="add", block=(0, 0, 0))


@checker.program(x=numbers(128))
def misaligned_write(x: Array) -> Unsafe:
    """A double written at the address of a float."""
    return Unsafe("MISALIGNED", ("writes 8 bytes",), buffer="out0", kernel="store", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(x=numbers(64))
def return_between_barriers(x: Array) -> Unsafe:
    """Lanes that leave between two barriers."""
    return Unsafe("DIVERGENT_BARRIER", ("left the kernel",), kernel="steps", block=(0, 0, 0), thread=(63, 0, 0))


@checker.program(x=numbers(64))
def barrier_behind_a_short_circuit(x: Array) -> Unsafe:
    """A function with a barrier that only some lanes call."""
    return Unsafe("DIVERGENT_BARRIER", kernel="wait", block=(0, 0, 0), thread=(63, 0, 0))


@checker.program(x=numbers(64))
def wild_pointer_in_memory(x: Array) -> Unsafe:
    """A pointer from a table in device memory."""
    return Unsafe("HOST_POINTER", ("null pointer",), kernel="gather", thread=(1, 0, 0), block=(0, 0, 0))


@checker.program(**X)
def variable_never_set(x: Array) -> Array:
    """A local variable that nobody set is NaN, and so is what is computed with it."""
    return np.full_like(x, np.nan)


@checker.program(**X)
def stream_that_nobody_awaits(x: Array) -> Unsafe:
    """A kernel reads what one on another stream writes, and no event is between them."""
    words = ("the kernel scale(", "wrote on another stream", "no event or synchronisation")
    return Unsafe("RACE", words, kernel="total", buffer="scratch 1", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(**X)
def event_before_the_work(x: Array) -> Unsafe:
    """An event that is recorded before what it should stand for."""
    return Unsafe(
        "RACE",
        ("the kernel scale(", "another stream"),
        kernel="total",
        buffer="scratch 1",
        block=(0, 0, 0),
        thread=(0, 0, 0),
    )


@checker.program(**X)
def streams_that_overlap(x: Array) -> Unsafe:
    """Two streams that write one element both."""
    words = ("at byte 2000 of the output buffer 'out0'", "the kernel part(", "wrote on another stream")
    return Unsafe("RACE", words, kernel="part", buffer="out0", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(**X)
def result_that_nobody_awaits(x: Array) -> Unsafe:
    """The caller's stream does not wait for the one that makes the output."""
    return Unsafe("RACE", ("the caller reads", "does not wait for"), kernel="scale", buffer="out0")


@checker.program(**X)
def fill_beside_a_kernel(x: Array) -> Unsafe:
    """A sum is set to zero on one stream, and added to on another."""
    return Unsafe(
        "RACE", ("a fill wrote on another stream",), kernel="add", buffer="out0", thread=(0, 0, 0), block=(0, 0, 0)
    )


@checker.program(**X, format=kernel_pb2.Candidate.HIP_TORCH)
def pool_stream_of_torch(x: Array) -> Unsafe:
    """A stream of torch's pool, which no guard joins again when it ends."""
    return Unsafe(
        "RACE",
        ("the kernel twice(", "another stream"),
        kernel="more",
        buffer="scratch 1",
        thread=(0, 0, 0),
        block=(0, 0, 0),
    )


@checker.program(**X)
def misaligned_copy(x: Array) -> Unsafe:
    """Vectors are copied from the second float on."""
    words = ("reads 16 bytes at byte 4 of the input buffer 'x'",)
    return Unsafe("MISALIGNED", words, kernel="copy", buffer="x", block=(0, 0, 0), thread=(0, 0, 0))


@checker.program(**X)
def misaligned_copy_in_shared(x: Array) -> Unsafe:
    """Structures of vectors are taken from rows of an odd number of floats."""
    return Unsafe(
        "MISALIGNED", ("reads 16 bytes at byte 68",), kernel="rows", buffer="tile", thread=(2, 0, 0), block=(0, 0, 0)
    )


@checker.program(x=numbers(96))
def race_by_a_copy(x: Array) -> Unsafe:
    """A structure is copied while another block writes it."""
    return Unsafe(
        "RACE",
        ("reads 96 bytes", "another block wrote"),
        ("UNINITIALIZED_READ",),
        kernel="pass",
        buffer="out0",
        block=(1, 0, 0),
        thread=(0, 0, 0),
    )


@checker.program(x=numbers(64))
def uninitialised_by_a_copy(x: Array) -> Unsafe:
    """What nobody wrote is copied with the rest, and then read."""
    words = ("reads 4 bytes at byte 92",)
    return Unsafe("UNINITIALIZED_READ", words, kernel="sums", buffer="scratch 2", thread=(0, 0, 0), block=(0, 0, 0))


@checker.program(x=numbers(64))
def barrier_of_a_helper(x: Array) -> Unsafe:
    """One barrier, of a function that both branches call."""
    return Unsafe("DIVERGENT_BARRIER", ("another barrier",), kernel="steps", block=(0, 0, 0), thread=(63, 0, 0))


@checker.program(x=numbers(64), threads=40)
def barriers_at_two_depths(x: Array, threads: int) -> Unsafe:
    """As many barriers in both branches, in functions of functions."""
    return Unsafe(
        "DIVERGENT_BARRIER", ("of the same wave waits at another",), kernel="steps", block=(0, 0, 0), thread=(63, 0, 0)
    )


@checker.program(**X)
def module_variable_far(x: Array) -> Unsafe:
    """Far beyond a variable of the module."""
    words = ("writes 4 bytes at byte 20000", "256 bytes")
    return Unsafe("OUT_OF_BOUNDS", words, kernel="fill", buffer="table", block=(0, 0, 0), thread=(5, 0, 0))


@checker.program(**X)
def dynamic_shared_far(x: Array) -> Unsafe:
    """Far beyond the dynamic shared memory of the launch."""
    words = ("byte 20000", "256 bytes")
    buffer = "dynamic shared memory"
    return Unsafe("OUT_OF_BOUNDS", words, kernel="spread", buffer=buffer, block=(0, 0, 0), thread=(1, 0, 0))


@checker.program(x=numbers(64))
def flag_without_a_fence(x: Array) -> Unsafe:
    """A wave waits for an atomic that stands for nothing."""
    words = ("wrote, with no barrier",)
    return Unsafe("RACE", words, kernel="pass", buffer="slot", block=(0, 0, 0), thread=(64, 0, 0))


@checker.program(x=numbers(64))
def flag_before_the_data(x: Array) -> Unsafe:
    """A fence that comes too early."""
    words = ("wrote, with no barrier",)
    return Unsafe("RACE", words, kernel="pass", buffer="slot", block=(0, 0, 0), thread=(64, 0, 0))


test_checker = checker.test()
