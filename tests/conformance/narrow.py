"""Half, bfloat16 and eight-bit floats in numpy, written from the definitions of the formats."""

from __future__ import annotations

import numpy as np

Array = np.ndarray

# What rounding, overflow and special values turn on, in single precision.
SPECIAL = np.array(
    [
        *(0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-8, 1 + 3 * 2**-8),
        *(1.0625, 1.1875, 65504.0, 65519.0, 65520.0, -65520.0, 65536.0, 1e9, -1e9, 3.4028234e38, -3.4028234e38),
        *(240.0, 247.0, 248.0, 256.0, 448.0, 464.0, 465.0, -480.0, 57344.0, 61440.0, 61441.0, 2**-14, 2**-24),
        *(2**-25, 1.5 * 2**-25, -(2**-26), 1e-9, 6.1e-5, 3.1e-5, 2**-126, 2**-127, 1e-45, -1e-45, 2**-8, 2**-9),
        *(2**-10, 2**-11, 1.5 * 2**-10, 2**-16, 2**-17, 2**-18),
    ],
    np.float32,
)  # fmt: skip


def wide(count: int, seed: int = 1, exponents: tuple[int, int] = (-26, 17)) -> Array:
    """Float32 numbers of either sign whose binary exponents are spread evenly."""
    random = np.random.default_rng(seed)
    return np.ldexp(random.uniform(-2, 2, count), random.integers(*exponents, count)).astype(np.float32)


def to_half(values: Array, mode: str = "rn") -> Array:
    """Float16 of numbers in the rounding mode of a suffix of HIP's: rn, rz, rd, ru."""
    exact = np.asarray(values, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = exact.astype(np.float16)
        wrong, toward = {
            "rn": (np.zeros(exact.shape, bool), 0),
            "rz": (np.abs(nearest) > np.abs(exact), 0),
            "rd": (nearest > exact, -np.inf),
            "ru": (nearest < exact, np.inf),
        }[mode]
        return np.where(wrong, np.nextafter(nearest, np.float16(toward)), nearest)


def to_bf16(values: Array) -> Array:
    """The codes (uint16) of float32 numbers, to nearest, ties to even; NaN is 0x7fc0."""
    single = np.asarray(values, np.float32)
    bits = single.view(np.uint32).astype(np.uint64)
    code = (bits + 0x7FFF + (bits >> np.uint64(16) & np.uint64(1))) >> np.uint64(16)
    return np.where(np.isnan(single), 0x7FC0, code).astype(np.uint16)


def from_bf16(codes: Array) -> Array:
    """Float32 numbers of codes (uint16)."""
    return (np.asarray(codes, np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def float8(mantissa: int, *, fnuz: bool) -> Array:
    """The 256 float32 numbers of an eight-bit format with so many bits of mantissa.

    FNUZ: arXiv 2206.02915; OCP: "OCP 8-bit Floating Point Specification", table 1.
    """
    exponents = 7 - mantissa
    bias = 2 ** (exponents - 1) - (0 if fnuz else 1)
    numbers = []
    for code in range(256):
        sign, exponent, fraction = -1 if code >> 7 else 1, code >> mantissa & 2**exponents - 1, code & 2**mantissa - 1
        number = fraction / 2**mantissa * 2.0 ** (1 - bias)
        if exponent:
            number = (1 + fraction / 2**mantissa) * 2.0 ** (exponent - bias)
        if not fnuz and mantissa == 2 and exponent == 31:
            number = np.nan if fraction else np.inf
        if not fnuz and mantissa == 3 and code & 127 == 127:
            number = np.nan
        numbers.append(np.nan if fnuz and code == 128 else sign * number)
    return np.array(numbers, np.float32)


def to_float8(values: Array, mantissa: int, *, fnuz: bool, saturate: bool = True) -> Array:
    """Codes (uint8), to nearest, ties to even.

    What rounds beyond the largest number saturates, or becomes infinity where the format has one and NaN where it has
    none. So do infinities, which are never saturated in FNUZ. NaN is 0x80 in FNUZ and 0x7f in OCP.
    """
    table = float8(mantissa, fnuz=fnuz)[:128].astype(np.float64)
    table = table[np.isfinite(table)]
    # One more step is where rounding overflows.
    steps = np.append(table, 2 * table[-1] - table[-2])
    codes = []
    for value in np.asarray(values, np.float64):
        if np.isnan(value):
            codes.append(0x80 if fnuz else 0x7F)
            continue
        sign = 0x80 if np.signbit(value) else 0
        distance = np.abs(steps - min(abs(value), steps[-1]))
        near = np.flatnonzero(distance == distance.min())
        code = int(near[near % 2 == 0][0] if len(near) > 1 else near[0])
        if code == len(table) and saturate and not (fnuz and np.isinf(value)):
            code -= 1
        if code == len(table):
            codes.append(0x80 if fnuz else sign | (0x7C if mantissa == 2 else 0x7F))
        else:
            codes.append(0 if fnuz and code == 0 else sign | code)
    return np.array(codes, np.uint8)
