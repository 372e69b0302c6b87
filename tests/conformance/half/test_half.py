"""Half precision: conversions, arithmetic with one rounding, pairs and packed instructions."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, NeedsDevice, Unsafe, integers, numbers
from tests.conformance.narrow import SPECIAL, to_half, wide

half = Feature(__file__)

_CODES = np.arange(65536, dtype=np.uint16).view(np.float16)
# Every pair of these is compared.
_NUMBERS = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2**-24, -(2**-24), 65504.0, np.inf, -np.inf, np.nan, 3.0], np.float16)
_LEFT, _RIGHT = (np.ascontiguousarray(side.ravel()) for side in np.meshgrid(_NUMBERS, _NUMBERS))
_HALVES, _OTHERS = to_half(wide(512, 3, (-20, 12))), to_half(wide(512, 4, (-10, 12)))


@half.program(x=np.concatenate([SPECIAL, wide(1000)]))
def round_from_float(x: Array) -> tuple[Array, ...]:
    """To nearest, toward zero, down and up: ties, overflow, subnormals, NaN."""
    return tuple(to_half(x, mode) for mode in ("rn", "rz", "rd", "ru"))


@half.program(x=np.concatenate([integers(400, low=-70000, high=70000), integers(20, low=2048, high=2060)]))
def round_from_int(x: Array) -> tuple[Array, ...]:
    """Integers of every width, rounded to nearest."""
    return (
        *(to_half(x), to_half(x.astype(np.uint16)), to_half(x.astype(np.int16))),
        *(to_half(x & 0xFFFF), to_half(x)),
    )


@half.program(x=np.concatenate([np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 65504, -65504], np.float16), _HALVES[:200]]))
def to_integers(x: Array) -> tuple[Array, ...]:
    """ROCm's __half2int_rn and its like all truncate (amd_hip_fp16.h); rounding takes hrint and its like."""
    whole = x.astype(np.int32)
    rounded = [function(x.astype(np.float64)).astype(np.int32) for function in (np.rint, np.floor, np.ceil)]
    return (whole, *rounded, np.abs(whole).astype(np.uint32), whole.astype(np.int64))


@half.program(x=_CODES)
def widen_all(x: Array) -> Array:
    """All 65536 codes, in pairs, are exact in single precision."""
    return x.astype(np.float32)


@half.program(a=_HALVES, b=_OTHERS)
def arithmetic(a: Array, b: Array) -> Array:
    """Operators and functions round once, subnormal results included."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    return np.concatenate([to_half(x + y), to_half(x - y), to_half(x * y), to_half(x / y), -np.abs(a)])


@half.program(a=to_half(numbers(500, 5)), b=to_half(numbers(500, 6)), c=to_half(numbers(500, 7)))
def fused(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """__hfma rounds once, __hmul and __hadd twice."""
    x, y, z = (side.astype(np.float64) for side in (a, b, c))
    once, twice = to_half(x * y + z), to_half(to_half(x * y).astype(np.float64) + z)
    assert (once != twice).any()
    return once, twice


@half.program(a=_LEFT, b=_RIGHT)
def compare(a: Array, b: Array) -> Array:
    """Ordered comparisons are false of NaN but for __hne, unordered ones true; ROCm's operator >= is !(a < b)."""
    nan = np.isnan(a) | np.isnan(b)
    equal, less, more = a == b, a < b, a > b
    ordered = [equal, ~equal, less, less | equal, more, more | equal]
    bits = [*ordered, *(one | nan for one in ordered), equal, ~equal, less, ~less, np.isnan(a), np.isinf(a)]
    return sum((bit.astype(np.int32) << place for place, bit in enumerate(bits)), np.zeros(a.shape, np.int32))


@half.program(a=_LEFT, b=_RIGHT)
def extremes(a: Array, b: Array) -> Array:
    """__hmax prefers the number to NaN, __hmax_nan the NaN; of two zeros __hmax gives the second, __hmin the first."""
    results = [(np.fmax(a, b), b), (np.fmin(a, b), a), (np.maximum(a, b), b), (np.minimum(a, b), a)]
    return np.concatenate([np.where((a == 0) & (b == 0), zero, result) for result, zero in results])


@half.program(a=to_half(numbers(200, 8, -2, 2)), b=to_half(numbers(200, 9, -2, 2)))
def saturate(a: Array, b: Array) -> Array:
    """The forms with _sat are clamped to [0, 1]."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    return np.concatenate([to_half(np.clip(to_half(z), 0, 1)) for z in (x + y, x - y, x * y, x * y + y)])


@half.program(a=_HALVES, b=_OTHERS)
def packed_arithmetic(a: Array, b: Array) -> Array:
    """Both halves of a pair are rounded once."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    return np.concatenate([to_half(z) for z in (x + y, x - y, x * y, x / y, x * y - x, np.abs(y))])


@half.program(x=_HALVES[:64], y=_OTHERS[:64])
def packed_moves(x: Array, y: Array) -> Array:
    """Low and high halves, swapped, repeated and put together."""
    (a, b), (c, d) = x.reshape(-1, 2).T, y.reshape(-1, 2).T
    pairs = [(a, a), (b, b), (a, c), (b, d), (b, a), (b, b), (d, a), (a, a), (b, c), (d, a)]
    return np.stack([np.stack(pair, axis=1) for pair in pairs]).ravel()


@half.program(x=_LEFT, y=_RIGHT)
def packed_compare(x: Array, y: Array) -> tuple[Array, Array]:
    """Each half gives 1 or 0; the forms with b ask for both."""
    nan = np.isnan(x) | np.isnan(y)
    lanes = [x == y, x < y, (x >= y) | nan, np.isnan(x)]
    both = [(test.reshape(-1, 2)).all(axis=1) for test in (x == y, x > y, x <= y, x != y)]
    bits = sum((bit.astype(np.int32) << place for place, bit in enumerate(both)), np.zeros(len(x) // 2, np.int32))
    return np.concatenate([lane.astype(np.float16) for lane in lanes]), bits


_ARGUMENTS = to_half(np.concatenate([numbers(120, 11, 0.01, 8), [0.0, 1.0, 2**-24, np.inf, np.nan, 1e-4]]))


@half.program(x=_ARGUMENTS, ulp=1)
def functions(x: Array) -> Array:
    """Functions are good to a unit in the last place."""
    return _function_values(x, ["exp", "exp2", "exp10", "log", "log2", "log10", "sqrt", "rsqrt", "rcp", "sin", "cos"])


@half.program(x=_ARGUMENTS, ulp=1)
def packed_functions(x: Array) -> Array:
    """The same for pairs."""
    return _function_values(x, ["exp", "exp2", "log", "log2", "sqrt", "rsqrt", "rcp", "sin", "cos", "log10"])


def _function_values(x: Array, names: list[str]) -> Array:
    own = {"exp10": lambda v: 10.0**v, "rsqrt": lambda v: 1 / np.sqrt(v), "rcp": lambda v: 1 / v}
    with np.errstate(all="ignore"):
        exact = [(own.get(name) or getattr(np, name))(x.astype(np.float64)) for name in names]
    return np.concatenate([to_half(values) for values in exact])


@half.program(x=_CODES)
def whole_numbers(x: Array) -> Array:
    """Floor, ceiling, truncation and rounding to even of all codes."""
    return np.concatenate([function(x) for function in (np.floor, np.ceil, np.trunc, np.rint)])


@half.program(x=_HALVES[:100])
def bits(x: Array) -> tuple[Array, Array]:
    """Numbers as integers and back, alone and in pairs."""
    return (x.view(np.int16) + np.int16(1)).view(np.float16), -x


@half.program(x=to_half(numbers(1024)), by=0.75)
def eight_at_once(x: Array, by: float) -> Array:
    """Sixteen bytes hold eight halves, as a struct of pairs and as float4."""
    return to_half(x.astype(np.float64) * by)


@half.program(x=to_half(numbers(1024)), shape=(32,))
def eight_misaligned(x: Array) -> Unsafe:
    """A load of sixteen bytes from an odd half is found."""
    return Unsafe("MISALIGNED")


@half.program(
    a=to_half(numbers(64 * 32).reshape(64, 32)), b=to_half(numbers(64 * 32, 2).reshape(64, 32)), ulp=16, atol=1e-6
)
def dot2(a: Array, b: Array) -> tuple[Array, Array]:
    """v_dot2_f32_f16 sums in single precision; its clamp is to [0, 1]."""
    products = a.astype(np.float64) * b.astype(np.float64)
    total = products.sum(axis=1)
    return total.astype(np.float32), np.clip(total + products[:, :2].sum(axis=1), 0, 1).astype(np.float32)


@half.program(x=np.concatenate([SPECIAL, wide(500 + len(SPECIAL) % 2)]))
def pack_toward_zero(x: Array) -> Array:
    """v_cvt_pkrtz_f16_f32 makes a pair, rounding toward zero: what is too large is the largest number."""
    return to_half(x, "rz")


@half.program(a=to_half(numbers(256, 1)), b=to_half(numbers(256, 2)))
def native_vectors(a: Array, b: Array) -> Array:
    """Clang's own vectors of _Float16: minimum, selection, conversion, shuffles."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    (p, q), last = (side.reshape(-1, 8) for side in (a, b)), [7, 6, 5, 4]
    shuffled = np.stack([p[:, last], q[:, last]], axis=2).ravel()
    wide_sum = ((x * y).astype(np.float32) + np.float32(1)).astype(np.float16)
    return np.concatenate([np.minimum(a, b), np.where(a < b, to_half(x * y), to_half(x + y)), wide_sum, shuffled])


@half.program(x=np.array([1 + 2**-11 + 2**-40, 1 + 3 * 2**-11 - 2**-40, 65519.9999999, 65520, 2**-25 + 2**-60, 2**-25]))
def from_double(x: Array) -> Array:
    """Rounded once, not by way of single precision."""
    return to_half(x)


@half.program(x=numbers(64))
def packed_assembly(x: Array) -> NeedsDevice:
    """Packed arithmetic in inline assembly is named."""
    return NeedsDevice("v_pk_add_f16")


test_half = half.test()
