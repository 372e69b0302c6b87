// Scalar instructions that are no part of C: builtins and the arithmetic of ockl.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "amdgcn.h"
#include "narrow.h"

namespace {

template <class T>
T middle(T a, T b, T c) {
    if (a != a || b != b || c != c) return std::fmin(float(std::fmin(float(a), float(b))), float(c));
    T low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

// The bits of V_CMP_CLASS: signalling and quiet NaN, -inf, -normal, -subnormal, -0, 0, subnormal, normal, inf.
bool in_class(double x, bool subnormal, int mask) {
    if (x != x) return mask & 3;
    bool negative = std::signbit(x);
    int kind = std::isinf(x) ? 0 : x == 0 ? 3 : subnormal ? 2 : 1;
    return mask >> (negative ? 2 + kind : 9 - kind) & 1;
}

template <class T>
T saturated(double sum, T, bool clamp, double low, double high) {
    return clamp ? T(sum < low ? low : sum > high ? high : sum) : T(int64_t(sum));
}

template <unsigned kBits, bool kSigned>
int64_t dot(uint32_t a, uint32_t b) {
    int64_t sum = 0;
    for (unsigned at = 0; at < 32; at += kBits) {
        int64_t x = a >> at & ((1u << kBits) - 1), y = b >> at & ((1u << kBits) - 1);
        if (kSigned) x = (x ^ (1 << (kBits - 1))) - (1 << (kBits - 1)), y = (y ^ (1 << (kBits - 1))) - (1 << (kBits - 1));
        sum += x * y;
    }
    return sum;
}

int signed_sum(int64_t sum, bool clamp) { return saturated<int>(double(sum), 0, clamp, INT32_MIN, INT32_MAX); }
unsigned unsigned_sum(int64_t sum, bool clamp) { return saturated<unsigned>(double(sum), 0, clamp, 0, UINT32_MAX); }

using E4M3 = kv::TargetFloat8<3>;
using E5M2 = kv::TargetFloat8<2>;

uint8_t byte_of(int word, int index) { return uint8_t(unsigned(word) >> (index & 3) * 8); }

// Stochastic rounding: random bits are added to what the mantissa drops, the rest is cut off.
template <class Format, unsigned kDropped>
int with_byte(float x, int random, int old, int index) {
    float moved = std::isfinite(x) ? kv::from_bits(kv::to_bits(x) + (unsigned(random) >> (32 - kDropped))) : x;
    uint8_t byte = Format::encode(moved);
    if (std::fabs(Format::decode(byte)) > std::fabs(moved) && byte & 0x7f) byte--;
    unsigned at = unsigned(index & 3) * 8;
    return int((unsigned(old) & ~(0xffu << at)) | unsigned(byte) << at);
}

int packed(uint8_t low, uint8_t high, int old, bool upper) {
    unsigned pair = unsigned(low) | unsigned(high) << 8;
    return int(upper ? (unsigned(old) & 0xffff) | pair << 16 : (unsigned(old) & 0xffff0000u) | pair);
}

// To single precision such that rounding it once more is as if the double had been rounded once.
float to_odd(double x) {
    float f = float(x);
    if (double(f) == x || f != f || std::isinf(f)) return f;
    uint32_t bits = kv::to_bits(f);
    bool beyond = std::fabs(double(f)) > std::fabs(x);
    return bits & 1 ? f : kv::from_bits(beyond ? bits - 1 : bits + 1);
}

}  // namespace

extern "C" {

float __builtin_amdgcn_rcpf(float x) { return 1 / x; }
double __builtin_amdgcn_rcp(double x) { return 1 / x; }
float __builtin_amdgcn_rsqf(float x) { return 1 / std::sqrt(x); }
double __builtin_amdgcn_rsq(double x) { return 1 / std::sqrt(x); }
float __builtin_amdgcn_sqrtf(float x) { return std::sqrt(x); }
double __builtin_amdgcn_sqrt(double x) { return std::sqrt(x); }
float __builtin_amdgcn_exp2f(float x) { return std::exp2(x); }
float __builtin_amdgcn_logf(float x) { return std::log2(x); }
// In turns, not in radians.
float __builtin_amdgcn_sinf(float x) { return float(std::sin(2 * M_PI * double(x))); }
float __builtin_amdgcn_cosf(float x) { return float(std::cos(2 * M_PI * double(x))); }
float __builtin_amdgcn_fractf(float x) { return std::fmin(x - std::floor(x), 0x1.fffffep-1f); }
double __builtin_amdgcn_fract(double x) { return std::fmin(x - std::floor(x), 0x1.fffffffffffffp-1); }
float __builtin_amdgcn_ldexpf(float x, int n) { return std::ldexp(x, n); }
double __builtin_amdgcn_ldexp(double x, int n) { return std::ldexp(x, n); }
int __builtin_amdgcn_frexp_expf(float x) {
    int n = 0;
    if (std::isfinite(x)) (void)std::frexp(x, &n);
    return n;
}
int __builtin_amdgcn_frexp_exp(double x) {
    int n = 0;
    if (std::isfinite(x)) (void)std::frexp(x, &n);
    return n;
}
float __builtin_amdgcn_frexp_mantf(float x) {
    int n;
    return std::frexp(x, &n);
}
double __builtin_amdgcn_frexp_mant(double x) {
    int n;
    return std::frexp(x, &n);
}
float __builtin_amdgcn_fmed3f(float a, float b, float c) { return middle(a, b, c); }
_Float16 __builtin_amdgcn_fmed3h(_Float16 a, _Float16 b, _Float16 c) { return middle(a, b, c); }
_Float16 __builtin_amdgcn_rcph(_Float16 x) { return _Float16(1 / float(x)); }
_Float16 __builtin_amdgcn_rsqh(_Float16 x) { return _Float16(1 / std::sqrt(float(x))); }
_Float16 __builtin_amdgcn_sqrth(_Float16 x) { return _Float16(std::sqrt(float(x))); }
bool __builtin_amdgcn_classf(float x, int mask) { return in_class(x, std::fpclassify(x) == FP_SUBNORMAL, mask); }
bool __builtin_amdgcn_class(double x, int mask) { return in_class(x, std::fpclassify(x) == FP_SUBNORMAL, mask); }

unsigned __builtin_amdgcn_alignbit(unsigned high, unsigned low, unsigned shift) {
    return unsigned((uint64_t{high} << 32 | low) >> (shift & 31));
}
unsigned __builtin_amdgcn_alignbyte(unsigned high, unsigned low, unsigned shift) {
    return unsigned((uint64_t{high} << 32 | low) >> (shift & 3) * 8);
}
unsigned __builtin_amdgcn_perm(unsigned high, unsigned low, unsigned selector) {
    uint64_t bytes = uint64_t{high} << 32 | low;
    unsigned result = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned pick = selector >> 8 * i & 0xff, byte;
        if (pick < 8) byte = unsigned(bytes >> 8 * pick & 0xff);
        else if (pick < 12) byte = bytes >> (16 * (pick - 8) + 15) & 1 ? 0xff : 0;
        else byte = pick == 12 ? 0 : 0xff;
        result |= byte << 8 * i;
    }
    return result;
}
unsigned __builtin_amdgcn_ubfe(unsigned x, unsigned offset, unsigned width) {
    width &= 31;
    return width ? x >> (offset & 31) & ((1u << width) - 1) : 0;
}
unsigned __builtin_amdgcn_sbfe(unsigned x, unsigned offset, unsigned width) {
    width &= 31;
    if (!width) return 0;
    unsigned field = x >> (offset & 31) & ((1u << width) - 1), sign = 1u << (width - 1);
    return (field ^ sign) - sign;
}
unsigned __builtin_amdgcn_lerp(unsigned a, unsigned b, unsigned round) {
    unsigned result = 0;
    for (unsigned at = 0; at < 32; at += 8)
        result |= (((a >> at & 0xff) + (b >> at & 0xff) + (round >> at & 1)) >> 1 & 0xff) << at;
    return result;
}
unsigned __builtin_amdgcn_sad_u8(unsigned a, unsigned b, unsigned sum) {
    for (unsigned at = 0; at < 32; at += 8) sum += unsigned(std::abs(int(a >> at & 0xff) - int(b >> at & 0xff)));
    return sum;
}
unsigned __builtin_amdgcn_sad_u16(unsigned a, unsigned b, unsigned sum) {
    for (unsigned at = 0; at < 32; at += 16) sum += unsigned(std::abs(int(a >> at & 0xffff) - int(b >> at & 0xffff)));
    return sum;
}
int __builtin_amdgcn_mul_i24(int a, int b) { return int(unsigned(a << 8 >> 8) * unsigned(b << 8 >> 8)); }
unsigned __builtin_amdgcn_mul_u24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
__kv_f16x2 __builtin_amdgcn_cvt_pkrtz(float a, float b) {
    auto toward_zero = [](float x) {
        _Float16 h = _Float16(x);
        if (std::fabs(float(h)) <= std::fabs(x) || x != x) return h;
        uint16_t bits;
        memcpy(&bits, &h, 2);
        bits--;  // the next one toward zero; infinity becomes the largest number
        memcpy(&h, &bits, 2);
        return h;
    };
    return __kv_f16x2{toward_zero(a), toward_zero(b)};
}
float __builtin_amdgcn_fdot2(__kv_f16x2 a, __kv_f16x2 b, float c, bool) {
    return float(a[0]) * float(b[0]) + float(a[1]) * float(b[1]) + c;
}
int __builtin_amdgcn_sdot2(__kv_i16x2 a, __kv_i16x2 b, int c, bool clamp) {
    return signed_sum(int64_t{a[0]} * b[0] + int64_t{a[1]} * b[1] + c, clamp);
}
unsigned __builtin_amdgcn_udot2(__kv_u16x2 a, __kv_u16x2 b, unsigned c, bool clamp) {
    return unsigned_sum(int64_t{a[0]} * b[0] + int64_t{a[1]} * b[1] + c, clamp);
}
int __builtin_amdgcn_sdot4(int a, int b, int c, bool clamp) { return signed_sum(dot<8, true>(unsigned(a), unsigned(b)) + c, clamp); }
unsigned __builtin_amdgcn_udot4(unsigned a, unsigned b, unsigned c, bool clamp) { return unsigned_sum(dot<8, false>(a, b) + c, clamp); }
int __builtin_amdgcn_sdot8(int a, int b, int c, bool clamp) { return signed_sum(dot<4, true>(unsigned(a), unsigned(b)) + c, clamp); }
unsigned __builtin_amdgcn_udot8(unsigned a, unsigned b, unsigned c, bool clamp) { return unsigned_sum(dot<4, false>(a, b) + c, clamp); }

float __builtin_amdgcn_cvt_f32_fp8(int word, int index) { return E4M3::decode(byte_of(word, index)); }
float __builtin_amdgcn_cvt_f32_bf8(int word, int index) { return E5M2::decode(byte_of(word, index)); }
__kv_f32x2 __builtin_amdgcn_cvt_pk_f32_fp8(int word, bool upper) {
    return __kv_f32x2{E4M3::decode(byte_of(word, 2 * upper)), E4M3::decode(byte_of(word, 2 * upper + 1))};
}
__kv_f32x2 __builtin_amdgcn_cvt_pk_f32_bf8(int word, bool upper) {
    return __kv_f32x2{E5M2::decode(byte_of(word, 2 * upper)), E5M2::decode(byte_of(word, 2 * upper + 1))};
}
int __builtin_amdgcn_cvt_pk_fp8_f32(float a, float b, int old, bool upper) {
    return packed(E4M3::encode(a), E4M3::encode(b), old, upper);
}
int __builtin_amdgcn_cvt_pk_bf8_f32(float a, float b, int old, bool upper) {
    return packed(E5M2::encode(a), E5M2::encode(b), old, upper);
}

int __builtin_amdgcn_cvt_sr_fp8_f32(float x, int random, int old, int index) {
    return with_byte<E4M3, 20>(x, random, old, index);
}
int __builtin_amdgcn_cvt_sr_bf8_f32(float x, int random, int old, int index) {
    return with_byte<E5M2, 21>(x, random, old, index);
}

unsigned __ockl_mul24_u32(unsigned a, unsigned b) { return __builtin_amdgcn_mul_u24(a, b); }
int __ockl_mul24_i32(int a, int b) { return __builtin_amdgcn_mul_i24(a, b); }
unsigned __ockl_mul_hi_u32(unsigned a, unsigned b) { return unsigned(uint64_t{a} * b >> 32); }
int __ockl_mul_hi_i32(int a, int b) { return int(int64_t{a} * b >> 32); }
unsigned __ockl_sadd_u32(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
uint8_t __ockl_clz_u8(uint8_t x) { return uint8_t(x ? __builtin_clz(x) - 24 : 8); }
uint16_t __ockl_clz_u16(uint16_t x) { return uint16_t(x ? __builtin_clz(x) - 16 : 16); }
unsigned __ockl_clz_u32(unsigned x) { return x ? unsigned(__builtin_clz(x)) : 32; }
uint64_t __ockl_clz_u64(uint64_t x) { return x ? uint64_t(__builtin_clzll(x)) : 64; }
int __ockl_sdot2(__kv_i16x2 a, __kv_i16x2 b, int c, bool clamp) { return __builtin_amdgcn_sdot2(a, b, c, clamp); }
unsigned __ockl_udot2(__kv_u16x2 a, __kv_u16x2 b, unsigned c, bool clamp) { return __builtin_amdgcn_udot2(a, b, c, clamp); }
int __ockl_sdot8(int a, int b, int c, bool clamp) { return __builtin_amdgcn_sdot8(a, b, c, clamp); }
unsigned __ockl_udot8(unsigned a, unsigned b, unsigned c, bool clamp) { return __builtin_amdgcn_udot8(a, b, c, clamp); }
float __ockl_fdot2(__kv_f16x2 a, __kv_f16x2 b, float c, bool clamp) { return __builtin_amdgcn_fdot2(a, b, c, clamp); }

// What the compiler calls for conversions that x86-64 lacks.
__bf16 __truncsfbf2(float x) {
    uint16_t bits = kv::to_bf16(x);
    __bf16 result;
    memcpy(&result, &bits, 2);
    return result;
}
__bf16 __truncdfbf2(double x) { return __truncsfbf2(to_odd(x)); }
_Float16 __truncdfhf2(double x) { return _Float16(to_odd(x)); }
}
