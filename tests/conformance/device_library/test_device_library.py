"""Clocks, assertions, printing, hints, assembly."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, NeedsDevice, Refuses, integers, numbers

device_library = Feature(__file__)

X = {"x": numbers(1000)}


@device_library.program(**X)
def clocks(x: Array) -> Array:
    """Clocks go on."""
    return x[:256].copy()


@device_library.program(**X)
def assertions(x: Array) -> Array:
    """An assertion that holds."""
    return x[:256].copy()


@device_library.program(**X)
def failed_assertion(x: Array) -> Refuses:
    """One that does not ends the kernel, with its line and its thread."""
    return Refuses("CRASHED", "failed_assertion.hip:5: thread (77, 0, 0)")


@device_library.program(**X)
def trap(x: Array) -> Refuses:
    """A kernel that ends itself."""
    return Refuses("CRASHED", "trap.hip:5: thread (5, 0, 0)")


@device_library.program(**X)
def printing(x: Array) -> Array:
    """printf does no harm."""
    return x[:256].copy()


@device_library.program(**X)
def hints(x: Array) -> Array:
    """Priorities, schedules, ways around the cache."""
    return x + x[0]


@device_library.program(**X)
def assumptions(x: Array) -> Array:
    """What the compiler may take for granted."""
    return x


@device_library.program(**X)
def assembly_waits(x: Array) -> Array:
    """Waits and no-ops of assembly, and an empty one that holds a value."""
    return x


@device_library.program(**X)
def assembly_arithmetic(x: Array) -> NeedsDevice:
    """An instruction that computes needs a device, and is named."""
    return NeedsDevice("it has `v_add_f32` as inline assembly")


@device_library.program(**X)
def assembly_memory(x: Array) -> NeedsDevice:
    """So does one that reads memory, among waits."""
    return NeedsDevice("it has `global_load_dword` as inline assembly")


@device_library.program(x=integers(1000, low=-8, high=8).astype(np.float32))
def assembly_of_values(x: Array) -> Array:
    """Empty assembly gives the values that it took, whatever their types and registers."""
    return 6 * x + np.float32(4)


@device_library.program(**X)
def assembly_hints(x: Array) -> Array:
    """Barriers, priorities, caches and comments of assembly."""
    return x[255::-1].copy()


@device_library.program(**X)
def clocks_of_llvm(x: Array) -> Array:
    """The compiler's own names of the clocks."""
    return x[:64].copy()


@device_library.program(**X)
def hardware_register(x: Array) -> NeedsDevice:
    """What a hardware register holds."""
    return NeedsDevice("__builtin_amdgcn_s_getreg")


@device_library.program(**X)
def static_shared_size(x: Array) -> NeedsDevice:
    """How much LDS the GPU's compiler gave a kernel."""
    return NeedsDevice("__builtin_amdgcn_groupstaticsize")


@device_library.program(**X)
def dispatch_packet(x: Array) -> NeedsDevice:
    """The packet that a queue holds for a launch."""
    return NeedsDevice("__builtin_amdgcn_dispatch_ptr")


@device_library.program(**X)
def hidden_arguments(x: Array) -> NeedsDevice:
    """The arguments that the runtime adds."""
    return NeedsDevice("__builtin_amdgcn_implicitarg_ptr")


@device_library.program(**X)
def message(x: Array) -> NeedsDevice:
    """A message to the host."""
    return NeedsDevice("__builtin_amdgcn_s_sendmsg")


@device_library.program(**X)
def device_new(x: Array) -> NeedsDevice:
    """new and delete use the heap on the device."""
    return NeedsDevice("__ockl_dm_alloc")


@device_library.program(**X)
def device_malloc(x: Array) -> NeedsDevice:
    """A heap on the device needs one."""
    return NeedsDevice("__ockl_dm_alloc")


@device_library.program(**X)
def fences(x: Array) -> Array:
    """Fences of all widths."""
    return x


@device_library.program(**X)
def bit_casts(x: Array) -> Array:
    """Bits of floats."""
    return -x


test_device_library = device_library.test()
