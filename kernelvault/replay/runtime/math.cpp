// ocml: AMD's device mathematics, on the C library's, which is at least as accurate.
#include <cfenv>
#include <cmath>
#include <cstdint>

#include "amdgcn.h"

#pragma STDC FENV_ACCESS ON

#define KV_MATH extern "C"
#define KV_ONE(name, expression)                                                                   \
    KV_MATH float __ocml_##name##_f32(float x) { using T = float; return T(expression); }          \
    KV_MATH double __ocml_##name##_f64(double x) { using T = double; return T(expression); }
#define KV_TWO(name, expression)                                                                   \
    KV_MATH float __ocml_##name##_f32(float x, float y) { return float(expression); }              \
    KV_MATH double __ocml_##name##_f64(double x, double y) { return double(expression); }
#define KV_SAME_ONE(name) KV_ONE(name, std::name(x))
#define KV_SAME_TWO(name) KV_TWO(name, std::name(x, y))

namespace {

constexpr double kPi = 3.14159265358979323846;

// Reduced before the multiplication, so that large arguments keep their accuracy and zeros are exact.
template <class T> T sin_pi(T x) {
    double r = double(std::remainder(x, T(2)));
    if (std::fabs(r) > 0.5) r = std::copysign(1, r) - r;
    return T(std::sin(kPi * r));
}
template <class T> T cos_pi(T x) { return T(std::sin(kPi * (0.5 - std::fabs(double(std::remainder(x, T(2))))))); }

double bessel_i(unsigned order, double x) {
    // The power series converges everywhere; beyond 700 it overflows as the function does.
    double half = x / 2, term = order ? half : 1, sum = term;
    for (unsigned k = 1; k < 2000 && std::fabs(term) > std::fabs(sum) * 1e-17; k++) sum += term *= half * half / (k * double(k + order));
    return sum;
}

double normal_quantile(double p);

// Newton's method on erf from a rough start: quadratic convergence, six steps suffice.
double erf_inverse(double y) {
    if (!(std::fabs(y) < 1)) return y == 1 ? INFINITY : y == -1 ? -INFINITY : NAN;
    double a = std::log1p(-y * y), b = 2 / (kPi * 0.147) + a / 2;
    double x = std::copysign(std::sqrt(std::sqrt(b * b - a / 0.147) - b), y);
    for (int i = 0; i < 6; i++) x -= (std::erf(x) - y) / (2 / std::sqrt(kPi) * std::exp(-x * x));
    return x;
}

double erfc_inverse(double y) {
    if (!(y > 0 && y < 2)) return y == 0 ? INFINITY : y == 2 ? -INFINITY : NAN;
    if (y > 0.1 && y < 1.9) return erf_inverse(1 - y);
    double small = y < 1 ? y : 2 - y, x = std::sqrt(-std::log(small * 1.5));
    for (int i = 0; i < 60; i++) {
        double step = (std::erfc(x) - small) / (-2 / std::sqrt(kPi) * std::exp(-x * x));
        x -= step / (1 + x * step);  // Halley's correction
        if (std::fabs(step) < 1e-16 * x) break;
    }
    return y < 1 ? x : -x;
}

double normal_quantile(double p) { return -std::sqrt(2.0) * erfc_inverse(2 * p); }

double erfc_scaled(double x) {
    if (x < 25) return std::exp(x * x) * std::erfc(x);
    double r = 1 / (x * x);
    return (1 - r / 2 * (1 - 1.5 * r)) / (x * std::sqrt(kPi));
}

// Runs `compute` in a rounding mode; the operands pass through volatile so that nothing is computed before.
template <class T, class Compute>
T rounded(int mode, Compute compute) {
    int kept = fegetround();
    fesetround(mode);
    volatile T result = compute();
    fesetround(kept);
    return result;
}

}  // namespace

KV_SAME_ONE(acos) KV_SAME_ONE(acosh) KV_SAME_ONE(asin) KV_SAME_ONE(asinh) KV_SAME_ONE(atan) KV_SAME_ONE(atanh)
KV_SAME_ONE(cbrt) KV_SAME_ONE(ceil) KV_SAME_ONE(cos) KV_SAME_ONE(cosh) KV_SAME_ONE(erf) KV_SAME_ONE(erfc) KV_SAME_ONE(exp)
KV_SAME_ONE(exp2) KV_SAME_ONE(expm1) KV_SAME_ONE(fabs) KV_SAME_ONE(floor) KV_SAME_ONE(log) KV_SAME_ONE(log10)
KV_SAME_ONE(log1p) KV_SAME_ONE(log2) KV_SAME_ONE(logb) KV_SAME_ONE(nearbyint) KV_SAME_ONE(rint) KV_SAME_ONE(round)
KV_SAME_ONE(sin) KV_SAME_ONE(sinh) KV_SAME_ONE(sqrt) KV_SAME_ONE(tan) KV_SAME_ONE(tanh) KV_SAME_ONE(tgamma)
KV_SAME_ONE(trunc) KV_SAME_ONE(lgamma)
KV_SAME_TWO(atan2) KV_SAME_TWO(copysign) KV_SAME_TWO(fdim) KV_SAME_TWO(fmax) KV_SAME_TWO(fmin) KV_SAME_TWO(fmod)
KV_SAME_TWO(hypot) KV_SAME_TWO(nextafter) KV_SAME_TWO(pow) KV_SAME_TWO(remainder)
KV_ONE(exp10, std::pow(10.0, double(x)))
KV_ONE(rsqrt, 1 / std::sqrt(double(x)))
KV_ONE(rcbrt, T(1) / std::cbrt(x))
KV_ONE(sinpi, sin_pi<T>(x))
KV_ONE(cospi, cos_pi<T>(x))
KV_ONE(tanpi, sin_pi<T>(x) / cos_pi<T>(x))
KV_ONE(erfinv, erf_inverse(x))
KV_ONE(erfcinv, erfc_inverse(x))
KV_ONE(erfcx, erfc_scaled(x))
KV_ONE(ncdf, 0.5 * std::erfc(-double(x) / std::sqrt(2.0)))
KV_ONE(ncdfinv, normal_quantile(x))
KV_ONE(i0, bessel_i(0, x))
KV_ONE(i1, bessel_i(1, x))
KV_ONE(j0, ::j0(x))
KV_ONE(j1, ::j1(x))
KV_ONE(y0, ::y0(x))
KV_ONE(y1, ::y1(x))
KV_TWO(rhypot, 1 / std::hypot(x, y))
KV_TWO(scalb, x * std::exp2(y))
KV_TWO(powr, std::pow(x, y))

#define KV_TYPED(T, suffix)                                                                                          \
    KV_MATH T __ocml_fma_##suffix(T x, T y, T z) { return std::fma(x, y, z); }                                       \
    KV_MATH T __ocml_mad_##suffix(T x, T y, T z) { return std::fma(x, y, z); }                                       \
    KV_MATH T __ocml_ldexp_##suffix(T x, int n) { return std::ldexp(x, n); }                                         \
    KV_MATH T __ocml_scalbn_##suffix(T x, int n) { return std::ldexp(x, n); }                                        \
    KV_MATH T __ocml_pown_##suffix(T x, int n) { return std::pow(x, T(n)); }                                         \
    KV_MATH T __ocml_rootn_##suffix(T x, int n) { return std::pow(x, T(1) / T(n)); }                                 \
    KV_MATH int __ocml_ilogb_##suffix(T x) { return std::isfinite(x) ? std::ilogb(x) : INT32_MAX; }                  \
    KV_MATH int __ocml_isnan_##suffix(T x) { return __builtin_isnan(x); }                                            \
    KV_MATH int __ocml_isinf_##suffix(T x) { return __builtin_isinf(x) != 0; }                                       \
    KV_MATH int __ocml_isfinite_##suffix(T x) { return __builtin_isfinite(x); }                                      \
    KV_MATH int __ocml_signbit_##suffix(T x) { return __builtin_signbit(x) != 0; }                                   \
    KV_MATH T __ocml_frexp_##suffix(T x, int* n) { return std::frexp(x, n); }                                        \
    KV_MATH T __ocml_modf_##suffix(T x, T* whole) { return std::modf(x, whole); }                                    \
    KV_MATH T __ocml_remquo_##suffix(T x, T y, int* n) { return std::remquo(x, y, n); }                              \
    KV_MATH T __ocml_sincos_##suffix(T x, T* cosine) { *cosine = std::cos(x); return std::sin(x); }                  \
    KV_MATH T __ocml_sincospi_##suffix(T x, T* cosine) { *cosine = cos_pi<T>(x); return sin_pi<T>(x); }              \
    KV_MATH T __ocml_len3_##suffix(T x, T y, T z) { return std::hypot(x, y, z); }                                    \
    KV_MATH T __ocml_rlen3_##suffix(T x, T y, T z) { return 1 / std::hypot(x, y, z); }                               \
    KV_MATH T __ocml_len4_##suffix(T x, T y, T z, T w) { return std::hypot(std::hypot(x, y), std::hypot(z, w)); }    \
    KV_MATH T __ocml_rlen4_##suffix(T x, T y, T z, T w) { return 1 / std::hypot(std::hypot(x, y), std::hypot(z, w)); }
KV_TYPED(float, f32)
KV_TYPED(double, f64)

// As ocml has them: the instruction, after a multiplication in single precision.
KV_MATH float __ocml_native_exp_f32(float x) { return __builtin_amdgcn_exp2f(x * 0x1.715476p+0f); }
KV_MATH float __ocml_native_exp2_f32(float x) { return __builtin_amdgcn_exp2f(x); }
KV_MATH float __ocml_native_exp10_f32(float x) { return __builtin_amdgcn_exp2f(x * 0x1.a934f0p+1f); }
KV_MATH float __ocml_native_sin_f32(float x) { return __builtin_amdgcn_sinf(x * 0x1.45f306p-3f); }
KV_MATH float __ocml_native_cos_f32(float x) { return __builtin_amdgcn_cosf(x * 0x1.45f306p-3f); }
#define KV_NATIVE(name) KV_MATH float __ocml_native_##name##_f32(float x) { return std::name(x); }
KV_NATIVE(log) KV_NATIVE(log2) KV_NATIVE(log10) KV_NATIVE(sqrt)
KV_MATH float __ocml_native_rsqrt_f32(float x) { return __ocml_rsqrt_f32(x); }
KV_MATH float __ocml_native_recip_f32(float x) { return 1 / x; }

// Directed rounding.
#define KV_MODES(define) define(rte, FE_TONEAREST) define(rtn, FE_DOWNWARD) define(rtp, FE_UPWARD) define(rtz, FE_TOWARDZERO)
#define KV_ROUND(T, suffix, mode, way)                                                                                  \
    KV_MATH T __ocml_add_##mode##_##suffix(T a, T b) { volatile T x = a, y = b; return rounded<T>(way, [&] { return x + y; }); } \
    KV_MATH T __ocml_sub_##mode##_##suffix(T a, T b) { volatile T x = a, y = b; return rounded<T>(way, [&] { return x - y; }); } \
    KV_MATH T __ocml_mul_##mode##_##suffix(T a, T b) { volatile T x = a, y = b; return rounded<T>(way, [&] { return x * y; }); } \
    KV_MATH T __ocml_div_##mode##_##suffix(T a, T b) { volatile T x = a, y = b; return rounded<T>(way, [&] { return x / y; }); } \
    KV_MATH T __ocml_sqrt_##mode##_##suffix(T a) { volatile T x = a; return rounded<T>(way, [&] { return std::sqrt(x); }); }     \
    KV_MATH T __ocml_fma_##mode##_##suffix(T a, T b, T c) {                                                                \
        volatile T x = a, y = b, z = c;                                                                                   \
        return rounded<T>(way, [&] { return std::fma(T(x), T(y), T(z)); });                                               \
    }
#define KV_CONVERT(to, T, from, F, mode, way) \
    KV_MATH T __ocml_cvt##mode##_##to##_##from(F a) { volatile F x = a; return rounded<T>(way, [&] { return T(x); }); }
#define KV_MODE(mode, way)                          \
    KV_ROUND(float, f32, mode, way)                 \
    KV_ROUND(double, f64, mode, way)                \
    KV_CONVERT(f32, float, f64, double, mode, way)  \
    KV_CONVERT(f32, float, s32, int32_t, mode, way) \
    KV_CONVERT(f32, float, u32, uint32_t, mode, way)\
    KV_CONVERT(f32, float, s64, int64_t, mode, way) \
    KV_CONVERT(f32, float, u64, uint64_t, mode, way)\
    KV_CONVERT(f64, double, s64, int64_t, mode, way)\
    KV_CONVERT(f64, double, u64, uint64_t, mode, way)\
    KV_CONVERT(f16, _Float16, f32, float, mode, way)
KV_MODES(KV_MODE)
