// Floating-point instructions that are no part of C. Those of single precision that approximate take subnormal numbers
// for zero and give none ("denormals are flushed"; of V_RCP_F32, LLVM's AMDGPUCodeGenPrepare: "doesn't support
// denormals"); they are computed as accurately as single precision holds. Those of double precision have 2^29 ulp.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "amdgcn.h"

namespace {

template <class T>
T middle(T a, T b, T c) {
    if (a != a || b != b || c != c) return T(std::fmin(float(std::fmin(float(a), float(b))), float(c)));
    T low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.f, x) : x; }

// A double of which 24 bits are right.
double coarse(double x) {
    if (!std::isfinite(x)) return x;
    uint64_t bits;
    memcpy(&bits, &x, 8);
    bits = (bits + (uint64_t{1} << 28)) & ~((uint64_t{1} << 29) - 1);
    memcpy(&x, &bits, 8);
    return x;
}

// The bits of V_CMP_CLASS: signalling and quiet NaN, -inf, -normal, -subnormal, -0, 0, subnormal, normal, inf.
bool in_class(double x, bool subnormal, int mask) {
    if (x != x) return mask & 3;
    bool negative = std::signbit(x);
    int kind = std::isinf(x) ? 0 : x == 0 ? 3 : subnormal ? 2 : 1;
    return mask >> (negative ? 2 + kind : 9 - kind) & 1;
}

// The fields of V_DIV_SCALE, V_DIV_FMAS and V_DIV_FIXUP, which make a division of a reciprocal.
template <class T>
struct Division {
    static constexpr bool kSingle = sizeof(T) == 4;
    using Wide = std::conditional_t<kSingle, double, long double>;
    static constexpr int kBias = kSingle ? 127 : 1023, kMantissa = kSingle ? 23 : 52;
    static constexpr int kShift = kSingle ? 64 : 128, kFar = kSingle ? 96 : 768, kSmall = kSingle ? 23 : 53;

    // As it is stored: 0 of subnormal numbers.
    static int exponent(T x) {
        uint64_t bits = 0;
        memcpy(&bits, &x, sizeof x);
        return int(bits >> kMantissa) & (2 * kBias + 1);
    }
    static bool subnormal(T x) { return x != 0 && exponent(x) == 0; }

    static T scale(T numerator, T denominator, bool of_numerator, bool* scaled) {
        T x = of_numerator ? numerator : denominator;
        *scaled = false;
        if (numerator == 0 || denominator == 0) return T(NAN);
        bool tiny_reciprocal = subnormal(1 / denominator), tiny_quotient = subnormal(numerator / denominator);
        if (exponent(numerator) - exponent(denominator) >= kFar) {
            *scaled = true;
            return of_numerator ? x : std::ldexp(x, kShift);
        }
        if (subnormal(denominator)) return std::ldexp(x, kShift);
        *scaled = tiny_quotient;
        if (tiny_reciprocal && tiny_quotient) return of_numerator ? x : std::ldexp(x, kShift);
        if (tiny_reciprocal) return std::ldexp(x, -kShift);
        if (tiny_quotient) return of_numerator ? std::ldexp(x, kShift) : x;
        return exponent(numerator) <= kSmall ? std::ldexp(x, kShift) : x;
    }

    static T fmas(T a, T b, T c, bool scaled) {
        if (!scaled) return std::fma(a, b, c);
        // Wider, so that a result that becomes subnormal is rounded once.
        return T(std::ldexp(std::fma(Wide(a), Wide(b), Wide(c)), exponent(c) > kBias ? kShift : -kShift));
    }

    static T fixup(T quotient, T denominator, T numerator) {
        T sign = std::signbit(numerator) != std::signbit(denominator) ? T(-1) : T(1);
        if (numerator != numerator) return numerator;
        if (denominator != denominator) return denominator;
        bool infinite = std::isinf(numerator), unending = std::isinf(denominator);
        if ((numerator == 0 && denominator == 0) || (infinite && unending)) return T(NAN);
        if (denominator == 0 || infinite) return std::copysign(T(INFINITY), sign);
        bool vanishes = exponent(numerator) - exponent(denominator) < -kBias - kMantissa;
        if (unending || numerator == 0 || vanishes) return std::copysign(T(0), sign);
        return std::copysign(quotient == quotient ? quotient : T(INFINITY), sign);
    }
};

}  // namespace

extern "C" {

float __builtin_amdgcn_rcpf(float x) { return flushed(1 / flushed(x)); }
double __builtin_amdgcn_rcp(double x) { return coarse(1 / x); }
float __builtin_amdgcn_rsqf(float x) { return float(1 / std::sqrt(double(flushed(x)))); }
double __builtin_amdgcn_rsq(double x) { return coarse(1 / std::sqrt(x)); }
float __builtin_amdgcn_sqrtf(float x) { return std::sqrt(flushed(x)); }
double __builtin_amdgcn_sqrt(double x) { return coarse(std::sqrt(x)); }
float __builtin_amdgcn_exp2f(float x) { return flushed(std::exp2(x)); }
float __builtin_amdgcn_logf(float x) { return std::log2(flushed(x)); }
float __builtin_amdgcn_log_clampf(float x) { return std::fmax(__builtin_amdgcn_logf(x), -0x1.fffffep+127f); }
// In turns, not in radians.
float __builtin_amdgcn_sinf(float x) { return float(std::sin(2 * M_PI * double(x))); }
float __builtin_amdgcn_cosf(float x) { return float(std::cos(2 * M_PI * double(x))); }
float __builtin_amdgcn_fractf(float x) { return std::isinf(x) ? NAN : std::fmin(x - std::floor(x), 0x1.fffffep-1f); }
double __builtin_amdgcn_fract(double x) { return std::isinf(x) ? NAN : std::fmin(x - std::floor(x), 0x1.fffffffffffffp-1); }
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
bool __builtin_amdgcn_classf(float x, int mask) { return in_class(x, std::fpclassify(x) == FP_SUBNORMAL, mask); }
bool __builtin_amdgcn_class(double x, int mask) { return in_class(x, std::fpclassify(x) == FP_SUBNORMAL, mask); }

float __builtin_amdgcn_div_scalef(float n, float d, bool of_n, bool* scaled) { return Division<float>::scale(n, d, of_n, scaled); }
double __builtin_amdgcn_div_scale(double n, double d, bool of_n, bool* scaled) { return Division<double>::scale(n, d, of_n, scaled); }
float __builtin_amdgcn_div_fmasf(float a, float b, float c, bool scaled) { return Division<float>::fmas(a, b, c, scaled); }
double __builtin_amdgcn_div_fmas(double a, double b, double c, bool scaled) { return Division<double>::fmas(a, b, c, scaled); }
float __builtin_amdgcn_div_fixupf(float q, float d, float n) { return Division<float>::fixup(q, d, n); }
double __builtin_amdgcn_div_fixup(double q, double d, double n) { return Division<double>::fixup(q, d, n); }

// Half precision keeps subnormal numbers.
_Float16 __builtin_amdgcn_fmed3h(_Float16 a, _Float16 b, _Float16 c) { return middle(a, b, c); }
_Float16 __builtin_amdgcn_rcph(_Float16 x) { return _Float16(1 / float(x)); }
_Float16 __builtin_amdgcn_rsqh(_Float16 x) { return _Float16(1 / std::sqrt(float(x))); }
_Float16 __builtin_amdgcn_sqrth(_Float16 x) { return _Float16(std::sqrt(float(x))); }
_Float16 __builtin_amdgcn_sinh(_Float16 x) { return _Float16(__builtin_amdgcn_sinf(float(x))); }
_Float16 __builtin_amdgcn_cosh(_Float16 x) { return _Float16(__builtin_amdgcn_cosf(float(x))); }
_Float16 __builtin_amdgcn_fracth(_Float16 x) {
    float fraction = __builtin_amdgcn_fractf(float(x));
    return _Float16(fraction > 0x1.ffcp-1f ? 0x1.ffcp-1f : fraction);
}
_Float16 __builtin_amdgcn_ldexph(_Float16 x, int n) { return _Float16(std::ldexp(float(x), n)); }
_Float16 __builtin_amdgcn_frexp_manth(_Float16 x) { return _Float16(__builtin_amdgcn_frexp_mantf(float(x))); }
short __builtin_amdgcn_frexp_exph(_Float16 x) { return short(__builtin_amdgcn_frexp_expf(float(x))); }
bool __builtin_amdgcn_classh(_Float16 x, int mask) { return in_class(float(x), std::fabs(float(x)) < 0x1p-14f, mask); }
}
