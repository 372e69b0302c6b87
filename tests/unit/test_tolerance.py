"""The tolerance is derived from rounding: honest kernels pass, approximations and downgrades do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernelvault.replay import tolerance
from kernelvault.v1 import kernel_pb2

Array = np.ndarray[Any, Any]
_RANDOM = np.random.default_rng(7)
_NONE = kernel_pb2.Tolerance()


def _normal(*shape: int) -> Array:
    return _RANDOM.standard_normal(shape).astype(np.float32)


def _passes(
    actual: Array, exact: Array, working: Array, *, n: int = 1, dtype: str = "float32", stated: Any = _NONE
) -> bool:
    wide = [np.asarray(a, np.float64) for a in (actual, exact, working)]
    bound = tolerance.derive(dtype, wide[1], wide[2], accumulation=n, stated=stated)
    return bool(tolerance.accepted(*wide, bound, dtype).all())


def _softmax(x: Array, exp: Any) -> Array:
    powers = exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def product() -> dict[str, Array]:
    """A matrix product with K = 1024: exact, in float32, and its factors."""
    a, b = _normal(48, 1024), _normal(1024, 40)
    return {"a": a, "b": b, "exact": a.astype(np.float64) @ b.astype(np.float64), "working": a @ b}


def _summed(a: Array, b: Array, order: Array, accumulator: type) -> Array:
    total = np.zeros((a.shape[0], b.shape[1]), accumulator)
    for k in order:
        total = (total + (a[:, k, None] * b[None, k, :]).astype(accumulator)).astype(accumulator)
    return total


@pytest.mark.parametrize("reverse", [False, True])
def test_a_naive_sum_in_any_order_passes(product: dict[str, Array], reverse: bool) -> None:
    """A loop over K, forwards or backwards, is honest although torch's blocked sum is more exact."""
    order = np.arange(1024)[:: -1 if reverse else 1]
    actual = _summed(product["a"], product["b"], order, np.float32)
    assert _passes(actual, product["exact"], product["working"], n=1024)


def test_blocked_sums_pass(product: dict[str, Array]) -> None:
    """Partial sums over tiles of 16, added at the end, are honest."""
    a, b = product["a"].reshape(48, 64, 16), product["b"].reshape(64, 16, 40)
    partial = np.einsum("mtk,tkn->tmn", a, b)
    assert _passes(partial.sum(axis=0, dtype=np.float32), product["exact"], product["working"], n=1024)


@pytest.mark.parametrize("narrow", [np.float16, "bfloat16"])
def test_narrow_factors_fail(product: dict[str, Array], narrow: Any) -> None:
    """Multiplying in float16 or bfloat16 for a float32 task is a silent downgrade."""
    a, b = (_rounded(product[name], narrow) for name in ("a", "b"))
    actual = a.astype(np.float64) @ b.astype(np.float64)
    assert not _passes(actual.astype(np.float32), product["exact"], product["working"], n=1024)


def test_a_narrow_accumulator_fails(product: dict[str, Array]) -> None:
    """Summing in float16 for a float32 task fails."""
    actual = _summed(product["a"], product["b"], np.arange(1024), np.float16)
    assert not _passes(actual, product["exact"], product["working"], n=1024)


def _rounded(x: Array, narrow: Any) -> Array:
    if narrow == "bfloat16":
        return ((x.view(np.uint32) + 0x8000) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return x.astype(narrow).astype(np.float32)


def test_a_narrow_accumulator_fails_for_a_float16_task_with_long_sums() -> None:
    """Summing 8,192 terms in float16 fails even where the task is float16; in float32 it passes."""
    a, b = (_RANDOM.random((8, 8192)).astype(np.float16), _RANDOM.random((8192, 8)).astype(np.float16))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    working = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    narrow = _summed(a.astype(np.float32), b.astype(np.float32), np.arange(8192), np.float16)
    wide = _summed(a.astype(np.float32), b.astype(np.float32), np.arange(8192), np.float32).astype(np.float16)
    assert _passes(wide, exact, working, n=8192, dtype="float16")
    assert not _passes(narrow, exact, working, n=8192, dtype="float16")


def test_a_softmax_with_hardware_exponentials_passes() -> None:
    """exp(x) as exp2(x * log2(e)) in float32 with an error of one unit in the last place is honest."""
    x = _normal(16, 512)

    def fast(y: Array) -> Array:
        return (np.exp2((y * np.float32(np.log2(np.e))).astype(np.float32)) * np.float32(1 + 2**-23)).astype(np.float32)

    exact = _softmax(x.astype(np.float64), np.exp)
    assert _passes(_softmax(x, fast), exact, _softmax(x, np.exp), n=512)


def test_another_function_with_similar_values_fails() -> None:
    """The tanh approximation of GELU is not the exact one."""
    import math

    x = _normal(4096).astype(np.float64)
    exact = np.array([0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in x])
    other = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    assert not _passes(other.astype(np.float32), exact, exact.astype(np.float32))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("scale", [0.05, 1.0, 100.0])
def test_zeros_constants_and_swapped_rows_fail(dtype: str, scale: float) -> None:
    """The classic ways to be lucky under a loose tolerance fail at every scale and in every dtype."""
    exact = _normal(32, 64).astype(np.float64) * scale
    swapped = exact[[1, 0, *range(2, 32)]]
    for actual in (np.zeros_like(exact), np.full_like(exact, exact.mean()), swapped, 1.5 * exact):
        assert not _passes(actual, exact, exact, dtype=dtype, n=64)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_eight_units_in_the_last_place_are_always_allowed(dtype: str) -> None:
    """Even a stated tolerance of nearly nothing leaves 8 units at the output's scale."""
    eps = {"float32": 2**-23, "float16": 2**-10, "bfloat16": 2**-7, "float64": 2**-52}[dtype]
    exact = np.ones(100)
    tiny = kernel_pb2.Tolerance(absolute=1e-30, relative=1e-30)
    assert _passes(exact + 8 * eps, exact, exact, dtype=dtype, stated=tiny)


def test_the_stated_tolerance_is_the_upper_limit() -> None:
    """However inexact the reference is, no more than the stated tolerance is allowed."""
    exact = _normal(1000).astype(np.float64)
    inexact = exact + 0.01 * _normal(1000)
    stated = kernel_pb2.Tolerance(absolute=1e-3, relative=1e-3)
    bound = tolerance.derive("float32", exact, inexact, accumulation=1, stated=stated)
    assert bound.relative == pytest.approx(1e-3)
    assert bound.absolute == pytest.approx(1e-3, rel=0.05)


def test_nan_is_no_wildcard() -> None:
    """NaN passes where the reference has NaN, and nowhere else; infinities by their sign."""
    exact = np.array([1.0, np.nan, np.inf, -np.inf])
    bound = tolerance.derive("float32", exact, exact, accumulation=1, stated=_NONE)

    def right(*values: float) -> list[bool]:
        return list(tolerance.accepted(np.array(values), exact, exact, bound, "float32"))

    assert right(1, np.nan, np.inf, -np.inf) == [True] * 4
    assert right(np.nan, 1, 1, 1) == [False] * 4
    assert right(np.inf, np.inf, -np.inf, np.inf) == [False] * 4


def test_an_overflow_of_the_working_dtype_may_be_avoided() -> None:
    """Where float16 overflows in the reference, infinity is right, and so is the exact value's own rounding."""
    exact, working = np.array([1.0, 70000.0]), np.array([1.0, np.inf])
    bound = tolerance.derive("float16", exact, working, accumulation=1, stated=_NONE)
    assert tolerance.accepted(working, exact, working, bound, "float16").all()
    assert not tolerance.accepted(np.array([1.0, 5.0]), exact, working, bound, "float16").all()


def test_integers_are_exact() -> None:
    """One off is wrong; where the reference's own rounding tips an integer, both are right."""
    exact, working = np.array([3, 7]), np.array([3, 8])
    bound = tolerance.derive("int32", exact, working, accumulation=1, stated=_NONE)
    assert list(tolerance.accepted(np.array([4, 7]), exact, working, bound, "int32")) == [False, True]
    assert list(tolerance.accepted(np.array([3, 8]), exact, working, bound, "int32")) == [True, True]


def test_an_ill_conditioned_case_is_told() -> None:
    """A case on which the working dtype itself is wrong cannot judge anyone."""
    exact = _normal(100).astype(np.float64)
    bound = tolerance.derive("bfloat16", exact, exact * 2, accumulation=1, stated=_NONE)
    assert not tolerance.well_conditioned(exact * 2, exact, bound, "bfloat16")
    assert tolerance.well_conditioned(exact, exact, bound, "bfloat16")
