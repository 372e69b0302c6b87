"""Variables of the module, tables, functions through pointers."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, NeedsDevice, numbers

variables = Feature(__file__)

X = {"x": numbers(1000)}


@variables.program(**X)
def constant_table(x: Array) -> Array:
    """A constant table with values of its own."""
    return x * np.tile(np.array([1, 0.5, 0.25, 2], np.float32), 250)


@variables.program(**X)
def copied_to_a_symbol(x: Array) -> Array:
    """A constant table that host code fills."""
    return x * np.tile(np.array([1, 0.5, 0.25, 2], np.float32), 250)


@variables.program(**X)
def copied_with_an_offset(x: Array) -> Array:
    """One element of it."""
    return x * np.tile(np.array([1, 1, 4, 1], np.float32), 250)


@variables.program(**X)
def symbol_from_device_memory(x: Array) -> NeedsDevice:
    """A copy between device memory and a variable of the module needs a device."""
    return NeedsDevice("module variable")


@variables.program(**X)
def symbol_address(x: Array) -> NeedsDevice:
    """A copy between device memory and a variable of the module needs a device."""
    return NeedsDevice("module variable")


@variables.program(**X)
def from_a_symbol(x: Array) -> NeedsDevice:
    """A copy between device memory and a variable of the module needs a device."""
    return NeedsDevice("module variable")


@variables.program(**X)
def between_kernels(x: Array) -> Array:
    """Kernels hand a value on in a variable."""
    return np.full(1000, np.add.accumulate(x, dtype=np.float32)[-1])


@variables.program(**X)
def starts_anew_each_time(x: Array) -> Array:
    """Each replay begins with the value of the source."""
    return np.array([11], np.float32)


@variables.program(**X)
def structures(x: Array) -> Array:
    """A structure of the module."""
    return np.roll(x, -1) * np.float32(2) + np.tile(np.array([0.5, -0.5], np.float32), 500)


@variables.program(**X)
def static_in_a_function(x: Array) -> Array:
    """A table inside of a function."""
    return x * np.tile(np.array([1, 2, 4, 8, 16], np.float32), 200)


@variables.program(**X)
def compile_time_table(x: Array) -> Array:
    """A table that the compiler computes."""
    return x * np.tile((3.0 ** np.arange(8)).astype(np.float32), 125)


@variables.program(**X)
def function_pointers(x: Array) -> Array:
    """A function that each thread chooses."""
    return np.where(np.arange(1000) % 2, -x, x / 2).astype(np.float32)


@variables.program(**X)
def virtual_functions(x: Array) -> Array:
    """Virtual functions of objects that a thread makes."""
    return np.where(np.arange(1000) % 2, np.maximum(x, 0), x * x)


@variables.program(**X)
def recursion(x: Array) -> Array:
    """A function that calls itself."""
    return np.array([0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89], np.float32)


@variables.program(**X)
def private_arrays(x: Array) -> Array:
    """Arrays that each thread has for itself, with changing indices."""
    return np.sort(x.reshape(-1, 8), axis=1).reshape(-1)


@variables.program(**X)
def managed(x: Array) -> NeedsDevice:
    """Managed variables need a device."""
    return NeedsDevice("managed")


test_variables = variables.test()
