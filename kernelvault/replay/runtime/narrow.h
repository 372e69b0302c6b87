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

    // To nearest, ties to even, by search: the encodings of positive numbers are in order. Saturates.
    static uint8_t encode(float value) {
        uint8_t sign = to_bits(value) >> 31 ? 0x80 : 0;
        if (value != value) return kFnuz ? 0x80 : 0x7f;
        float size = __builtin_fabsf(value);
        unsigned high = kFnuz ? 0x7f : kIeee ? 0x7b : 0x7e, low = 0;
        if (size >= decode(uint8_t(high))) return sign | uint8_t(high);
        while (high - low > 1) {
            unsigned middle = (low + high) / 2;
            (decode(uint8_t(middle)) <= size ? low : high) = middle;
        }
        float below = size - decode(uint8_t(low)), above = decode(uint8_t(high)) - size;
        unsigned nearest = below < above || (below == above && low % 2 == 0) ? low : high;
        return nearest || !kFnuz ? sign | uint8_t(nearest) : 0;
    }
};

// The eight-bit floats of the target that the image is built for.
template <unsigned kMantissa>
struct TargetFloat8 {
    static float decode(uint8_t bits) {
        return has_ocp_floats() ? Float8<kMantissa, false>::decode(bits) : Float8<kMantissa, true>::decode(bits);
    }
    static uint8_t encode(float value) {
        return has_ocp_floats() ? Float8<kMantissa, false>::encode(value) : Float8<kMantissa, true>::encode(value);
    }
};

}  // namespace kv
