"""Launch forms, and what a kernel may get."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, Refuses, Unsafe, integers, numbers

launch = Feature(__file__)

X = {"x": numbers(1000)}


@launch.program(**X)
def chevrons(x: Array) -> Array:
    """`<<<grid, block, lds, stream>>>`."""
    return x * np.float32(2)


@launch.program(**X)
def two_numbers(x: Array) -> Array:
    """Without shared memory and a stream."""
    return x * np.float32(2)


@launch.program(x=integers(1000, low=0, dtype=np.uint32))
def macro_form(x: Array) -> Array:
    """hipLaunchKernelGGL with a template in parentheses."""
    return x + np.uint32(5)


@launch.program(**X)
def argument_array(x: Array) -> Array:
    """hipLaunchKernel with an array of pointers to arguments."""
    return x * np.float32(2)


@launch.program(**X)
def through_a_pointer(x: Array) -> Array:
    """A kernel that host code chooses."""
    return x * np.float32(3)


@launch.program(**X)
def lambda_argument(x: Array) -> Array:
    """A lambda with a capture."""
    return x * np.float32(3)


@launch.program(**X)
def functor_argument(x: Array) -> Array:
    """A functor and numbers as template arguments."""
    return x * np.float32(0.25)


@launch.program(**X)
def template_of_templates(x: Array) -> Array:
    """A template as a template argument."""
    return x + x[::-1]


@launch.program(**X)
def struct_argument(x: Array) -> Array:
    """A structure by value, with an array in it."""
    return x * np.float32(4)


@launch.program(**X)
def pointers_in_a_struct(x: Array) -> Array:
    """Pointers in a structure."""
    return x


@launch.program(x=integers(1000).astype(np.float32))
def vector_argument(x: Array) -> Array:
    """A float4 by value."""
    return (x.reshape(-1, 4).astype(np.float64) * [1, 2, 4, 8]).sum(axis=1).astype(np.float32)


@launch.program(x=integers(1000).astype(np.float32))
def small_arguments(x: Array) -> Array:
    """Arguments of all sizes, each at its alignment."""
    return -x + np.float32(497.5)


@launch.program(**X)
def two_kernels(x: Array) -> Array:
    """One kernel goes on with what another one left."""
    return x * np.float32(2) + x


@launch.program(**X)
def loop_of_launches(x: Array) -> Array:
    """A kernel several times."""
    return np.add.accumulate([x] * 5, axis=0, dtype=np.float32)[-1]


@launch.program(**X)
def several_streams(x: Array) -> Array:
    """Two halves on two streams."""
    return x * np.float32(2)


@launch.program(**X)
def three_dimensions(x: Array) -> Array:
    """A grid and blocks of three dimensions."""
    i = np.arange(24 * 64)
    return (i * 8 + i // 64 // 6 + i % 64 // 8 % 4).astype(np.int32)


@launch.program(**X)
def one_thread(x: Array) -> Array:
    """A single thread."""
    return np.add.accumulate(x, dtype=np.float32)[-1:]


@launch.program(**X)
def largest_block(x: Array) -> Array:
    """1024 threads a block."""
    return x * np.float32(2)


@launch.program(**X)
def odd_block(x: Array) -> Array:
    """A block that fills no whole number of waves."""
    return x * np.float32(2)


@launch.program(**X)
def too_large_block(x: Array) -> Refuses:
    """1025 threads: the launch fails."""
    return Refuses("CRASHED", "fails: a block has more than 1024 threads: grid (1, 1, 1), block (1025, 1, 1)")


@launch.program(**X)
def empty_grid(x: Array) -> Refuses:
    """No blocks: the launch fails."""
    return Refuses("CRASHED", "fails: the grid is empty: grid (0, 1, 1), block (256, 1, 1)")


@launch.program(**X)
def launch_bounds(x: Array) -> Array:
    """Bounds and restricted pointers."""
    return x * np.float32(2)


@launch.program(**X)
def launch_bounds_exceeded(x: Array) -> Refuses:
    """More threads than a kernel was compiled for."""
    return Refuses("CRASHED", "launched with 256 threads a block; it was compiled for 64")


@launch.program(**X)
def compiler_bounds(x: Array) -> Array:
    """The compiler's own attributes for blocks, waves and registers."""
    return x * np.float32(2)


@launch.program(x=numbers(4), shape=(64,))
def unions_and_fields(x: Array) -> Array:
    """Unions, nested structures with padding, bit fields, packed ones, std::array, enums, half types."""
    return np.full(64, 1 + 2 + 7 + 5 + 1 + 11 + 3 - 100 + 2.5 + 4 + 2 + 0.5 + 8 + 9, np.float32)


@launch.program(x=numbers(4))
def large_arguments(x: Array) -> Array:
    """More than 4 KiB of arguments."""
    return (np.arange(64) + 1199 - np.arange(64)).astype(np.float32)


@launch.program(x=integers(64).astype(np.float32))
def wide_integers(x: Array) -> Array:
    """Arithmetic of 128 bits, with division and conversion."""
    return x * np.float32(3)


@launch.program(**X)
def reference_argument(x: Array) -> Unsafe:
    """A reference is a pointer to the host."""
    return Unsafe("HOST_POINTER", ("at byte 16 of its arguments",))


@launch.program(**X)
def namespaces(x: Array) -> Array:
    """Kernels of one name in two namespaces, one of them without a name."""
    return x + x * np.float32(2)


@launch.program(**X)
def static_kernel(x: Array) -> Array:
    """A static kernel."""
    return x * np.float32(2)


@launch.program(**X)
def overloads(x: Array) -> Array:
    """Kernels that differ by their parameters."""
    return np.array([7, 0.5], np.float32)


@launch.program(**X)
def grid_stride(x: Array) -> Array:
    """Fewer threads than elements."""
    return x * np.float32(2)


@launch.program(**X)
def one_past_the_end(x: Array) -> Unsafe:
    """A store beyond the output is found, with its line."""
    return Unsafe("OUT_OF_BOUNDS", ("out0",))


test_launch = launch.test()
