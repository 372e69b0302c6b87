"""Planted faults: each is found, with its kind, its line, and what it touched."""

from __future__ import annotations

from tests.conformance.harness import Array, Feature, Unsafe, numbers

checker = Feature(__file__)

X = {"x": numbers(1000)}


@checker.program(**X)
def write_one_past(x: Array) -> Unsafe:
    """One element beyond the end of the output."""
    return Unsafe("OUT_OF_BOUNDS", ("writes 4 bytes", "out0", "thread (232, 0, 0) of block (3, 0, 0)"))


@checker.program(**X)
def read_one_past(x: Array) -> Unsafe:
    """A neighbour that the last element lacks."""
    return Unsafe("OUT_OF_BOUNDS", ("reads 4 bytes", "'x'"))


@checker.program(**X)
def read_before_start(x: Array) -> Unsafe:
    """A neighbour that the first element lacks."""
    return Unsafe("OUT_OF_BOUNDS", ("reads 4 bytes", "byte -4"))


@checker.program(**X)
def write_far(x: Array) -> Unsafe:
    """Four megabytes beyond."""
    return Unsafe("OUT_OF_BOUNDS", ("thread (7, 0, 0) of block (0, 0, 0)",))


@checker.program(**X)
def overflowing_index(x: Array) -> Unsafe:
    """An index of 32 bits that wrapped around."""
    return Unsafe("OUT_OF_BOUNDS", ("'x'",))


@checker.program(**X)
def vector_over_the_end(x: Array) -> Unsafe:
    """A load of 16 bytes where nothing is left."""
    return Unsafe("OUT_OF_BOUNDS", ("16 bytes", "'x'"))


@checker.program(**X)
def vector_across_the_end(x: Array) -> Unsafe:
    """A load whose first half is inside."""
    return Unsafe("OUT_OF_BOUNDS", ("'x'",))


@checker.program(**X)
def atomic_past(x: Array) -> Unsafe:
    """An atomic beyond the end."""
    return Unsafe("OUT_OF_BOUNDS", ("out0",))


@checker.program(**X)
def member_past(x: Array) -> Unsafe:
    """A member of an element that is not there."""
    return Unsafe("OUT_OF_BOUNDS", ("'x'",))


@checker.program(**X)
def wrong_row_stride(x: Array) -> Unsafe:
    """A transpose with the stride of the other matrix."""
    return Unsafe("OUT_OF_BOUNDS", ("out0",))


@checker.program(**X)
def helper_past(x: Array) -> Unsafe:
    """In a function that the kernel calls."""
    return Unsafe("OUT_OF_BOUNDS", ("'x'",))


@checker.program(**X)
def scratch_past(x: Array) -> Unsafe:
    """A scratch buffer that is one element too small."""
    return Unsafe("OUT_OF_BOUNDS", ("scratch", "3996 bytes"))


@checker.program(**X)
def static_shared_one_past(x: Array) -> Unsafe:
    """One beyond a shared array, where another one may lie."""
    return Unsafe("OUT_OF_BOUNDS", ("'tile'", "256 bytes"))


@checker.program(**X)
def static_shared_far(x: Array) -> Unsafe:
    """Far beyond a shared array."""
    return Unsafe("OUT_OF_BOUNDS", ("'tile'",))


@checker.program(**X)
def shared_row_past(x: Array) -> Unsafe:
    """The row below the last."""
    return Unsafe("OUT_OF_BOUNDS", ("'tile'",))


@checker.program(**X)
def dynamic_shared_past(x: Array) -> Unsafe:
    """More dynamic shared memory than the launch gave."""
    return Unsafe("OUT_OF_BOUNDS", ("dynamic shared memory", "252 bytes"))


@checker.program(**X)
def dynamic_shared_not_given(x: Array) -> Unsafe:
    """Dynamic shared memory that nobody asked for."""
    return Unsafe("OUT_OF_BOUNDS", ("dynamic shared memory", "0 bytes"))


@checker.program(**X)
def module_variable_past(x: Array) -> Unsafe:
    """Beyond a variable of the module."""
    return Unsafe("OUT_OF_BOUNDS", ("'table'",))


@checker.program(**X)
def constant_past(x: Array) -> Unsafe:
    """Beyond a constant table."""
    return Unsafe("OUT_OF_BOUNDS", ("'weights'",))


@checker.program(**X)
def freed_before_the_launch(x: Array) -> Unsafe:
    """A buffer that was freed before the kernel ran."""
    return Unsafe("USE_AFTER_FREE", ("4000 bytes",))


@checker.program(**X)
def freed_in_order(x: Array) -> Unsafe:
    """One that its stream has given back."""
    return Unsafe("USE_AFTER_FREE", ("4000 bytes",))


@checker.program(**X)
def race_without_a_barrier(x: Array) -> Unsafe:
    """A tile that is read before all have written it."""
    return Unsafe("RACE", ("'tile'", "no barrier"), ("UNINITIALIZED_READ",))


@checker.program(**X)
def race_of_writers(x: Array) -> Unsafe:
    """Several threads write other values to one place."""
    return Unsafe("RACE", ("'slot'", "writes 4 bytes"))


@checker.program(**X)
def race_second_barrier(x: Array) -> Unsafe:
    """A loop without the barrier after its reads."""
    return Unsafe("RACE", ("'tile'",))


@checker.program(**X)
def race_one_missing_of_halves(x: Array) -> Unsafe:
    """The same with two elements in a word."""
    return Unsafe("RACE", ("'tile'", "2 bytes"))


@checker.program(**X)
def race_between_blocks(x: Array) -> Unsafe:
    """Blocks that write one place."""
    return Unsafe("RACE", ("out0", "another block"))


@checker.program(**X)
def race_read_of_another_block(x: Array) -> Unsafe:
    """A block that reads what another one writes."""
    return Unsafe("RACE", ("out0", "another block"), ("UNINITIALIZED_READ",))


@checker.program(**X)
def race_lost_updates(x: Array) -> Unsafe:
    """A sum without atomics."""
    return Unsafe("RACE", ("out0",))


@checker.program(**X)
def race_with_an_atomic(x: Array) -> Unsafe:
    """A plain write beside atomics, without a barrier between."""
    return Unsafe("RACE", ("'total'",))


@checker.program(**X)
def race_in_the_tail(x: Array) -> Unsafe:
    """A wave that relies on lockstep without `volatile`."""
    return Unsafe("RACE", ("'part'",))


@checker.program(**X)
def race_unpublished(x: Array) -> Unsafe:
    """The last block reads what no fence has published."""
    return Unsafe("RACE", ("another block",))


@checker.program(**X)
def uninitialised_scratch(x: Array) -> Unsafe:
    """Scratch memory that nobody filled."""
    return Unsafe("UNINITIALIZED_READ", ("scratch", "nobody has written"))


@checker.program(**X)
def uninitialised_output(x: Array) -> Unsafe:
    """An output is not zero before it is written."""
    return Unsafe("UNINITIALIZED_READ", ("out0",))


@checker.program(**X)
def uninitialised_shared(x: Array) -> Unsafe:
    """The half of a tile that nobody filled."""
    return Unsafe("UNINITIALIZED_READ", ("'tile'",))


@checker.program(**X)
def uninitialised_dynamic_shared(x: Array) -> Unsafe:
    """A sum in shared memory that begins with anything."""
    return Unsafe("UNINITIALIZED_READ", ("dynamic shared memory",))


@checker.program(**X)
def uninitialised_counter(x: Array) -> Unsafe:
    """A counter that was never set to zero."""
    return Unsafe("UNINITIALIZED_READ", ("nobody has written",))


@checker.program(**X)
def pointer_to_the_stack(x: Array) -> Unsafe:
    """The address of a host variable."""
    return Unsafe("HOST_POINTER", ())


@checker.program(**X)
def pointer_to_the_heap(x: Array) -> Unsafe:
    """The address of host memory."""
    return Unsafe("HOST_POINTER", ())


@checker.program(**X)
def null_pointer(x: Array) -> Unsafe:
    """An optional argument that is not there."""
    return Unsafe("HOST_POINTER", ("null pointer",))


@checker.program(**X)
def pointer_in_a_struct(x: Array) -> Unsafe:
    """The address of a host variable in a structure."""
    return Unsafe("HOST_POINTER", ())


@checker.program(**X)
def barrier_in_a_branch(x: Array) -> Unsafe:
    """Half of a wave waits."""
    return Unsafe("DIVERGENT_BARRIER", ("of the same wave",))


@checker.program(**X)
def two_barriers(x: Array) -> Unsafe:
    """Two halves of a wave wait in two places."""
    return Unsafe("DIVERGENT_BARRIER", ("another barrier",))


@checker.program(**X)
def barrier_in_an_uneven_loop(x: Array) -> Unsafe:
    """Lanes wait for different numbers of rounds."""
    return Unsafe("DIVERGENT_BARRIER", ())


@checker.program(**X)
def misaligned_float4(x: Array) -> Unsafe:
    """A vector at an odd half of an element."""
    return Unsafe("MISALIGNED", ("which is not aligned",))


@checker.program(**X)
def misaligned_double(x: Array) -> Unsafe:
    """A double at the address of a float."""
    return Unsafe("MISALIGNED", ("8 bytes",))


test_checker = checker.test()
