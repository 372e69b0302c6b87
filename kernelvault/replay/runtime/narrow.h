// Narrow floating-point formats.
#pragma once

#include <cstdint>
#include <cstring>

// Generated into the image: the number of the target that it is built for.
extern "C" const int kernel_target;

namespace kv {

inline bool has_ocp_floats() { return kernel_target >= 0x950; }

inline float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

inline uint32_t to_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

inline float from_bf16(uint16_t bits) { return from_bits(uint32_t{bits} << 16); }

// To nearest, ties to even; NaN stays NaN.
inline uint16_t to_bf16(float value) {
    uint32_t bits = to_bits(value);
    if (value != value) return uint16_t(bits >> 16 | 0x40);
    return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Eight-bit floats with `kMantissa` bits of mantissa. FNUZ (MI300): no infinities, no negative zero, 0x80 is NaN, the
// bias is one more. OCP: e4m3fn has no infinities and NaN at 0x7f; e5m2 is like IEEE.
template <unsigned kMantissa, bool kFnuz>
struct Float8 {
    static constexpr unsigned kExponent = 7 - kMantissa;
    static constexpr int kBias = (1 << (kExponent - 1)) - (kFnuz ? 0 : 1);
    static constexpr unsigned kTop = (1u << kExponent) - 1;
    static constexpr bool kIeee = !kFnuz && kMantissa == 2;

    static float decode(uint8_t bits) {
        unsigned exponent = bits >> kMantissa & kTop, mantissa = bits & ((1u << kMantissa) - 1);
        if (kFnuz ? bits == 0x80 : kIeee ? exponent == kTop && mantissa : (bits & 0x7f) == 0x7f) return __builtin_nanf("");
        float sign = bits & 0x80 ? -1.f : 1.f;
        if (kIeee && exponent == kTop) return sign * __builtin_inff();
        float fraction = float(mantissa) / float(1u << kMantissa) + (exponent ? 1.f : 0.f);
        return sign * __builtin_ldexpf(fraction, int(exponent ? exponent : 1) - kBias);
    }

    static constexpr unsigned kLargest = kFnuz ? 0x7f : kIeee ? 0x7b : 0x7e;
    // What numbers beyond the largest become, but for their sign.
    static constexpr unsigned kTooLarge = kFnuz ? 0x80 : kIeee ? 0x7c : 0x7f;

    // The largest code whose number is not above `size`, by search: the codes of positive numbers are in order.
    static unsigned below(float size) {
        unsigned low = 0, high = kLargest + 1;
        while (high - low > 1) {
            unsigned middle = (low + high) / 2;
            (decode(uint8_t(middle)) <= size ? low : high) = middle;
        }
        return low;
    }

    // The number that would come after the largest.
    static float limit() { return 2 * decode(kLargest) - decode(kLargest - 1); }

    static uint8_t with_sign(unsigned code, float value) {
        return kFnuz && code == 0 ? 0 : uint8_t(code | to_bits(value) >> 31 << 7);
    }

    // To nearest, ties to even.
    static uint8_t encode(float value, unsigned too_large = kTooLarge) {
        if (value != value) return kFnuz ? 0x80 : 0x7f;
        float size = __builtin_fabsf(value);
        unsigned low = below(size);
        float above = low == kLargest ? limit() : decode(uint8_t(low + 1));
        float down = size - decode(uint8_t(low)), up = above - size;
        unsigned nearest = down < up || (down == up && low % 2 == 0) ? low : low + 1;
        return with_sign(nearest > kLargest ? too_large : nearest, value);
    }

    // Toward zero.
    static uint8_t truncate(float value) {
        if (value != value) return kFnuz ? 0x80 : 0x7f;
        float size = __builtin_fabsf(value);
        return with_sign(size >= limit() ? kTooLarge : below(size), value);
    }
};

// The eight-bit floats of the target that the image is built for.
template <unsigned kMantissa>
struct TargetFloat8 {
    using Ocp = Float8<kMantissa, false>;
    using Fnuz = Float8<kMantissa, true>;
    static float decode(uint8_t bits) { return has_ocp_floats() ? Ocp::decode(bits) : Fnuz::decode(bits); }
    static uint8_t encode(float value) { return has_ocp_floats() ? Ocp::encode(value) : Fnuz::encode(value); }
    static uint8_t truncate(float value) { return has_ocp_floats() ? Ocp::truncate(value) : Fnuz::truncate(value); }
};

// To single precision such that rounding it once more is as if the double had been rounded once.
inline float to_odd(double x) {
    float f = float(x);
    if (double(f) == x || f != f || __builtin_isinf(f)) return f;
    uint32_t bits = to_bits(f);
    bool beyond = __builtin_fabs(double(f)) > __builtin_fabs(x);
    return bits & 1 ? f : from_bits(beyond ? bits - 1 : bits + 1);
}

}  // namespace kv
