// Integer instructions that are no part of C: builtins and the arithmetic of ockl.
#include <cstdint>
#include <cstdlib>

#include "amdgcn.h"

namespace {

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

}  // namespace

extern "C" {

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
unsigned __builtin_amdgcn_sad_hi_u8(unsigned a, unsigned b, unsigned sum) { return (__builtin_amdgcn_sad_u8(a, b, 0) << 16) + sum; }
// Bytes of `b` that are zero do not count.
unsigned __builtin_amdgcn_msad_u8(unsigned a, unsigned b, unsigned sum) {
    for (unsigned at = 0; at < 32; at += 8)
        if (b >> at & 0xff) sum += unsigned(std::abs(int(a >> at & 0xff) - int(b >> at & 0xff)));
    return sum;
}
// Of gfx950.
unsigned __builtin_amdgcn_bitop3_b32(unsigned a, unsigned b, unsigned c, unsigned table) {
    unsigned result = 0;
    for (unsigned i = 0; i < 8; i++)
        if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
}
unsigned __builtin_amdgcn_prng_b32(unsigned x) { return x << 1 ^ (x >> 31 ? 0xc5 : 0); }
int __builtin_amdgcn_mul_i24(int a, int b) { return int(unsigned(a << 8 >> 8) * unsigned(b << 8 >> 8)); }
unsigned __builtin_amdgcn_mul_u24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
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
int __ockl_sdot4(__kv_i8x4 a, __kv_i8x4 b, int c, bool clamp) {
    return __builtin_amdgcn_sdot4(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c, clamp);
}
unsigned __ockl_udot4(__kv_u8x4 a, __kv_u8x4 b, unsigned c, bool clamp) {
    return __builtin_amdgcn_udot4(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), c, clamp);
}
int __ockl_sdot8(int a, int b, int c, bool clamp) { return __builtin_amdgcn_sdot8(a, b, c, clamp); }
unsigned __ockl_udot8(unsigned a, unsigned b, unsigned c, bool clamp) { return __builtin_amdgcn_udot8(a, b, c, clamp); }
}
