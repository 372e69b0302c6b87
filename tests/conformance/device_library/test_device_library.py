"""Clocks, assertions, printing, hints, assembly."""

from __future__ import annotations

from tests.conformance.harness import Array, Feature, NeedsDevice, Refuses, numbers

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
    """One that does not ends the kernel, with its thread."""
    return Refuses("CRASHED", "(77, 0, 0)")


@device_library.program(**X)
def trap(x: Array) -> Refuses:
    """A kernel that ends itself."""
    return Refuses("CRASHED", "(5, 0, 0)")


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
    return NeedsDevice("v_add_f32")


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
