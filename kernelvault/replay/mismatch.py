"""Says how an output is wrong, in words that help its author: where, how much, and which pattern it has."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelvault.v1 import kernel_pb2

Array = np.ndarray[Any, Any]


def describe(actual: Array, expected: Array, right: Array, bound: kernel_pb2.Tolerance) -> str:
    """`12 of 4096 elements differ; first at [3, 17]: expected 0.1234, got nan (tolerance 1e-06 + ...)`."""
    wrong = ~right
    first = tuple(np.argwhere(wrong)[0])
    text = f"{np.count_nonzero(wrong)} of {right.size} elements differ; first at {position(wrong)}: "
    text += f"expected {_spell(expected[first])}, got {_spell(actual[first])}"
    if expected.dtype.kind == "f":
        text += f" (tolerance {bound.absolute:.2g} + {bound.relative:.2g} * |expected|)"
    hint = _pattern(actual, expected, wrong)
    return f"{text}; {hint}" if hint else text


def position(wrong: Array) -> str:
    """The first position that is set, as `[3, 17]`."""
    return str([int(index) for index in np.argwhere(wrong)[0]])


def errors_of(actual: Array, expected: Array) -> tuple[float, float]:
    """The greatest absolute and relative errors; infinite where one side alone is not finite."""
    if actual.size == 0:
        return 0.0, 0.0
    if actual.dtype.kind != "f":
        difference = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
        return float(difference.max()), float((difference / np.maximum(1, np.abs(expected.astype(np.float64)))).max())
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        difference = np.abs(actual - expected)
        same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
        difference = np.where(same, 0.0, np.where(np.isnan(difference), np.inf, difference))
        relative = np.where(same, 0.0, difference / np.abs(expected))
    return float(difference.max()), float(np.where(np.isnan(relative), np.inf, relative).max())


def _pattern(actual: Array, expected: Array, wrong: Array) -> str:
    if actual.dtype.kind == "f" and np.isnan(actual[wrong]).all():
        return "all of these are NaN: memory that no thread wrote, or 0/0"
    if not actual.any():
        return "the whole output is zero"
    if actual.size > 1 and (actual == actual.flat[0]).all():
        return "the whole output is one value"
    if not wrong.all():
        return _place(wrong)
    if actual.dtype.kind == "f" and actual.size > 2:
        return _factor(actual, expected)
    return ""


def _place(wrong: Array) -> str:
    """Where the wrong elements stand, if that is simple."""
    flat = wrong.reshape(-1)
    first = int(np.argmax(flat))
    if flat[first:].all():
        return f"all elements from flat index {first} on are wrong, none before: check the bounds of the grid"
    for axis in range(wrong.ndim):
        others = tuple(other for other in range(wrong.ndim) if other != axis)
        lines = wrong.all(axis=others)
        if (lines == wrong.any(axis=others)).all():
            indices = np.flatnonzero(lines)
            if len(indices) <= 8:
                return f"exactly the indices {indices.tolist()} of dimension {axis} are wrong"
    return ""


def _factor(actual: Array, expected: Array) -> str:
    usable = np.isfinite(actual) & np.isfinite(expected) & (np.abs(expected) > 0)
    if np.count_nonzero(usable) < 3:
        return ""
    ratios = actual[usable] / expected[usable]
    middle = float(np.median(ratios))
    if middle != 0 and np.abs(ratios / middle - 1).max() < 1e-2:
        return f"every element is {middle:.4g} times the expected one"
    return ""


def _spell(value: Any) -> str:
    return f"{float(value):.6g}" if isinstance(value, np.floating) else str(value.item())
