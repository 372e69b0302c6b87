// c10::Half: IEEE binary16 with arithmetic through float, the same 16 bits as __half. Text of our own.
#pragma once
#include <hip/hip_fp16.h>
#include <kernelvault/reduced.h>

#include <limits>

namespace c10 {

struct alignas(2) Half {
    unsigned short x;

    using from_bits_t = c10::from_bits_t;
    static constexpr C10_HOST_DEVICE from_bits_t from_bits() { return from_bits_t(); }

    Half() = default;
    constexpr C10_HOST_DEVICE Half(unsigned short bits, from_bits_t) : x(bits) {}
    C10_HOST_DEVICE Half(float value) : x(__builtin_bit_cast(unsigned short, static_cast<_Float16>(value))) {}
    C10_HOST_DEVICE Half(const __half& value) : x(__builtin_bit_cast(unsigned short, value)) {}
    C10_HOST_DEVICE operator float() const { return static_cast<float>(__builtin_bit_cast(_Float16, x)); }
    C10_HOST_DEVICE operator __half() const { return __builtin_bit_cast(__half, x); }
};

KERNELVAULT_REDUCED_OPERATORS(Half)

}  // namespace c10

namespace at {
using c10::Half;
}

template <>
class std::numeric_limits<c10::Half> {
    static constexpr C10_HOST_DEVICE c10::Half of(unsigned short bits) { return {bits, c10::from_bits}; }

 public:
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
    static constexpr bool has_infinity = true, has_quiet_NaN = true, is_iec559 = true, is_bounded = true;
    static constexpr int digits = 11, digits10 = 3, radix = 2, max_exponent = 16, min_exponent = -13;
    static constexpr C10_HOST_DEVICE c10::Half min() { return of(0x0400); }
    static constexpr C10_HOST_DEVICE c10::Half lowest() { return of(0xFBFF); }
    static constexpr C10_HOST_DEVICE c10::Half max() { return of(0x7BFF); }
    static constexpr C10_HOST_DEVICE c10::Half epsilon() { return of(0x1400); }
    static constexpr C10_HOST_DEVICE c10::Half infinity() { return of(0x7C00); }
    static constexpr C10_HOST_DEVICE c10::Half quiet_NaN() { return of(0x7E00); }
    static constexpr C10_HOST_DEVICE c10::Half denorm_min() { return of(0x0001); }
};
