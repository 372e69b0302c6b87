// c10::BFloat16: the upper half of a float, rounded to nearest even; arithmetic through float. Text of our own.
#pragma once
#include <hip/hip_bf16.h>
#include <kernelvault/reduced.h>

#include <limits>

namespace c10 {

struct alignas(2) BFloat16 {
    unsigned short x;

    using from_bits_t = c10::from_bits_t;
    static constexpr C10_HOST_DEVICE from_bits_t from_bits() { return from_bits_t(); }

    BFloat16() = default;
    constexpr C10_HOST_DEVICE BFloat16(unsigned short bits, from_bits_t) : x(bits) {}
    C10_HOST_DEVICE BFloat16(float value) : x(round(__builtin_bit_cast(uint32_t, value))) {}
    C10_HOST_DEVICE BFloat16(const __hip_bfloat16& value) : x(__builtin_bit_cast(unsigned short, value)) {}
    C10_HOST_DEVICE operator float() const { return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16); }
    C10_HOST_DEVICE explicit operator __hip_bfloat16() const { return __builtin_bit_cast(__hip_bfloat16, x); }

 private:
    static C10_HOST_DEVICE unsigned short round(uint32_t bits) {
        const bool nan = (bits & 0x7FFFFFFF) > 0x7F800000;
        return static_cast<unsigned short>(nan ? 0x7FC0 : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
    }
};

KERNELVAULT_REDUCED_OPERATORS(BFloat16)

}  // namespace c10

namespace at {
using c10::BFloat16;
}

template <>
class std::numeric_limits<c10::BFloat16> {
    static constexpr C10_HOST_DEVICE c10::BFloat16 of(unsigned short bits) { return {bits, c10::from_bits}; }

 public:
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
    static constexpr bool has_infinity = true, has_quiet_NaN = true, is_iec559 = false, is_bounded = true;
    static constexpr int digits = 8, digits10 = 2, radix = 2, max_exponent = 128, min_exponent = -125;
    static constexpr C10_HOST_DEVICE c10::BFloat16 min() { return of(0x0080); }
    static constexpr C10_HOST_DEVICE c10::BFloat16 lowest() { return of(0xFF7F); }
    static constexpr C10_HOST_DEVICE c10::BFloat16 max() { return of(0x7F7F); }
    static constexpr C10_HOST_DEVICE c10::BFloat16 epsilon() { return of(0x3C00); }
    static constexpr C10_HOST_DEVICE c10::BFloat16 infinity() { return of(0x7F80); }
    static constexpr C10_HOST_DEVICE c10::BFloat16 quiet_NaN() { return of(0x7FC0); }
    static constexpr C10_HOST_DEVICE c10::BFloat16 denorm_min() { return of(0x0001); }
};
