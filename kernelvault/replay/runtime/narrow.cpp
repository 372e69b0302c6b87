// Instructions on narrow floats: conversions and dot products.
#include "narrow.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "amdgcn.h"

namespace {

using E4M3 = kv::TargetFloat8<3>;
using E5M2 = kv::TargetFloat8<2>;

uint8_t byte_of(int word, int index) { return uint8_t(unsigned(word) >> (index & 3) * 8); }

// Stochastic rounding: the upper bits of a random number are added to what the mantissa drops, the rest is cut off.
template <class Format, unsigned kDropped>
int with_byte(float x, int random, int old, int index) {
    float moved = std::isfinite(x) ? kv::from_bits(kv::to_bits(x) + (unsigned(random) >> (32 - kDropped))) : x;
    unsigned at = unsigned(index & 3) * 8;
    return int((unsigned(old) & ~(0xffu << at)) | unsigned(Format::truncate(moved)) << at);
}

int packed(uint8_t low, uint8_t high, int old, bool upper) {
    unsigned pair = unsigned(low) | unsigned(high) << 8;
    return int(upper ? (unsigned(old) & 0xffff) | pair << 16 : (unsigned(old) & 0xffff0000u) | pair);
}

_Float16 toward_zero(float x) {
    _Float16 h = _Float16(x);
    if (std::fabs(float(h)) <= std::fabs(x) || x != x) return h;
    uint16_t bits;
    memcpy(&bits, &h, 2);
    bits--;  // the next one toward zero; infinity becomes the largest number
    memcpy(&h, &bits, 2);
    return h;
}

// The clamp of floating-point instructions.
float clamped(float x, bool clamp) { return clamp ? std::fmin(std::fmax(x, 0.f), 1.f) : x; }

}  // namespace

extern "C" {

__kv_f16x2 __builtin_amdgcn_cvt_pkrtz(float a, float b) { return __kv_f16x2{toward_zero(a), toward_zero(b)}; }
float __builtin_amdgcn_fdot2(__kv_f16x2 a, __kv_f16x2 b, float c, bool clamp) {
    return clamped(float(a[0]) * float(b[0]) + float(a[1]) * float(b[1]) + c, clamp);
}
float __builtin_amdgcn_fdot2_f32_bf16(__kv_bf16x2 a, __kv_bf16x2 b, float c, bool clamp) {
    return clamped(float(a[0]) * float(b[0]) + float(a[1]) * float(b[1]) + c, clamp);
}
float __builtin_amdgcn_fdot2c_f32_bf16(__kv_bf16x2 a, __kv_bf16x2 b, float c, bool clamp) {
    return __builtin_amdgcn_fdot2_f32_bf16(a, b, c, clamp);
}
float __ockl_fdot2(__kv_f16x2 a, __kv_f16x2 b, float c, bool clamp) { return __builtin_amdgcn_fdot2(a, b, c, clamp); }

float __builtin_amdgcn_cvt_f32_fp8(int word, int index) { return E4M3::decode(byte_of(word, index)); }
float __builtin_amdgcn_cvt_f32_bf8(int word, int index) { return E5M2::decode(byte_of(word, index)); }
__kv_f32x2 __builtin_amdgcn_cvt_pk_f32_fp8(int word, bool upper) {
    return __kv_f32x2{E4M3::decode(byte_of(word, 2 * upper)), E4M3::decode(byte_of(word, 2 * upper + 1))};
}
__kv_f32x2 __builtin_amdgcn_cvt_pk_f32_bf8(int word, bool upper) {
    return __kv_f32x2{E5M2::decode(byte_of(word, 2 * upper)), E5M2::decode(byte_of(word, 2 * upper + 1))};
}
// Nothing saturates: MODE.FP16_OVFL is off in kernels of HIP.
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

// What the compiler calls for conversions that x86-64 lacks.
__bf16 __truncsfbf2(float x) {
    uint16_t bits = kv::to_bf16(x);
    __bf16 result;
    memcpy(&result, &bits, 2);
    return result;
}
__bf16 __truncdfbf2(double x) { return __truncsfbf2(kv::to_odd(x)); }
_Float16 __truncdfhf2(double x) { return _Float16(kv::to_odd(x)); }
}
