"""Eight-bit floats: FNUZ of MI300 (gfx942) and OCP of gfx950, by ROCm's classes and by instructions."""

from __future__ import annotations

import numpy as np

from tests.conformance.harness import Array, Feature, NeedsDevice, Refuses, integers, numbers
from tests.conformance.narrow import SPECIAL, float8, from_bf16, to_bf16, to_float8, to_half, wide

fp8 = Feature(__file__)

_CODES = np.arange(256, dtype=np.uint8)
_NUMBERS = np.concatenate([SPECIAL, wide(600, exponents=(-20, 16)), -float8(3, fnuz=True), float8(2, fnuz=True)])
_FNUZ4, _FNUZ5 = float8(3, fnuz=True), float8(2, fnuz=True)


@fp8.program(codes=_CODES)
def decode_fnuz(codes: Array) -> Array:
    """All codes of ROCm's FNUZ classes: 0x80 is NaN, there are no infinities."""
    return np.concatenate([_FNUZ4, _FNUZ5])


@fp8.program(codes=_CODES, target="gfx950")
def decode_ocp(codes: Array) -> Array:
    """All codes of the OCP classes, which make infinities the largest number, and of gfx950's instructions."""
    e4m3, e5m2 = float8(3, fnuz=False), float8(2, fnuz=False)
    return np.concatenate([e4m3, np.nan_to_num(e5m2, nan=np.nan, posinf=57344, neginf=-57344), e4m3, e5m2])


@fp8.program(words=integers(200, low=-(2**31), high=2**31 - 1))
def selectors(words: Array) -> tuple[Array, Array]:
    """Any of four bytes, and either half of a word, are decoded."""
    codes = words.view(np.uint8).reshape(-1, 4)
    one, two = _FNUZ4[codes], _FNUZ5[codes]
    return np.hstack([one[:, :2], two[:, 2:]]).ravel(), np.hstack([two[:, :2], one[:, 2:]]).ravel()


@fp8.program(x=_NUMBERS)
def encode_saturating(x: Array) -> tuple[Array, ...]:
    """ROCm's constructors clamp finite numbers before they round; infinities become NaN."""
    e4m3 = to_float8(x, 3, fnuz=True)
    return e4m3, to_float8(x, 2, fnuz=True), e4m3


@fp8.program(x=_NUMBERS)
def encode_overflowing(x: Array) -> tuple[Array, ...]:
    """Without saturation, and by instructions in the mode of HIP's kernels, what is too large becomes NaN."""
    e4m3 = to_float8(x, 3, fnuz=True, saturate=False)
    return e4m3, e4m3, to_float8(x, 2, fnuz=True, saturate=False)


@fp8.program(x=_NUMBERS[~np.isnan(_NUMBERS)], target="gfx950")
def encode_ocp(x: Array) -> tuple[Array, ...]:
    """OCP: classes saturate infinities too; instructions give the infinity of e5m2 and the NaN of e4m3."""
    saturated = [to_float8(x, mantissa, fnuz=False) for mantissa in (3, 2)]
    return *saturated, *(to_float8(x, mantissa, fnuz=False, saturate=False) for mantissa in (3, 2))


@fp8.program(x=numbers(256, low=-200, high=200))
def four_in_a_word(x: Array) -> Array:
    """A pair goes into either half of a word, and the other half stays."""
    words = to_float8(x, 3, fnuz=True).view(np.uint32)
    return np.concatenate([words, words & 0xFFFF | 0xAAAA0000]).astype(np.uint32)


def _between() -> tuple[Array, Array]:
    """Numbers at k/64 of the way from one code to the next, and the next one's code."""
    low = np.random.default_rng(5).integers(8, 126, 200)
    way = np.random.default_rng(6).integers(0, 64, 200) / 64
    table = _FNUZ4.astype(np.float64)
    return (table[low] + way * (table[low + 1] - table[low])).astype(np.float32), (low + 1).astype(np.uint8)


@fp8.program(x=_between()[0], upper=_between()[1])
def stochastic(x: Array, upper: Array) -> tuple[Array, Array]:
    """A number is rounded up as often as it is near the upper neighbour; one byte of the word is written."""
    table = _FNUZ4.astype(np.float64)
    way = (x - table[upper - 1]) / (table[upper] - table[upper - 1])
    one = to_float8(np.array([1.0], np.float32), 2, fnuz=True)[0]  # a number of the format is never rounded up
    return (1024 * way).astype(np.int32), np.full(len(x), int(one) << 24 | 0x223344, np.int32)


@fp8.program(codes=_CODES)
def pairs_and_fours(codes: Array) -> tuple[Array, ...]:
    """Classes of two and of four numbers."""
    return _FNUZ4, _FNUZ5, codes


@fp8.program(x=np.concatenate([numbers(100, low=-230, high=230), np.array([0.0, 17.0, 18.99, -0.001], np.float32)]))
def other_types(x: Array) -> Array:
    """From half, bfloat16, double and int."""
    bf16 = from_bf16(to_bf16(x))
    sources = [(to_half(x), 3), (bf16, 2), (x.astype(np.float64) * (1 + 2.0**-40), 3), (np.trunc(x), 3)]
    return np.concatenate([to_float8(source, mantissa, fnuz=True) for source, mantissa in sources])


@fp8.program(codes=np.delete(_CODES, 128))
def back_to_types(codes: Array) -> tuple[Array, ...]:
    """To int, half, double and bool."""
    values = _FNUZ4[codes]
    return values.astype(np.int32), values.astype(np.float16), values.astype(np.float64), (values != 0).astype(np.uint8)


@fp8.program(x=numbers(8 * 256).reshape(8, 256), ulp=4)
def quantised_rows(x: Array) -> tuple[Array, Array, Array]:
    """Rows scaled to the largest number, packed, and multiplied again."""
    most = np.abs(x).max(axis=1, keepdims=True)
    codes = to_float8((x * (np.float32(240) / most)).ravel(), 3, fnuz=True)
    scales = (most / np.float32(240)).ravel()
    sums = (_FNUZ4[codes].astype(np.float64) ** 2).reshape(x.shape).sum(axis=1)
    return codes, scales, (sums * scales.astype(np.float64) ** 2).astype(np.float32)


@fp8.program(codes=_CODES, shape=(256,))
def ocp_on_older_target(codes: Array) -> Refuses:
    """ROCm's OCP classes are host code before gfx950, which the compiler for the GPU says."""
    return Refuses("COMPILE_FAILED", "__host__")


@fp8.program(x=numbers(64), target="gfx950")
def four_bits(x: Array) -> NeedsDevice:
    """Four-bit floats of gfx950 are named."""
    return NeedsDevice("__builtin_amdgcn_cvt_scalef32_pk_fp4_f32")


test_fp8 = fp8.test()
