// ocml for half precision, alone and in pairs: computed in single precision and rounded once.
#include <cmath>
#include <cstdint>

#include "narrow.h"

typedef _Float16 Half;
typedef Half Half2 __attribute__((ext_vector_type(2)));
typedef short Short2 __attribute__((ext_vector_type(2)));

#define KV_MATH extern "C"
#define KV_ONE(name, expression)                                                                          \
    KV_MATH Half __ocml_##name##_f16(Half h) { float x = float(h); return Half(expression); }             \
    KV_MATH Half2 __ocml_##name##_2f16(Half2 h) { return Half2{__ocml_##name##_f16(h.x), __ocml_##name##_f16(h.y)}; }
#define KV_SAME(name) KV_ONE(name, std::name(x))
#define KV_TWO(name, expression)                                                                                    \
    KV_MATH Half __ocml_##name##_f16(Half a, Half b) { float x = float(a), y = float(b); return Half(expression); } \
    KV_MATH Half2 __ocml_##name##_2f16(Half2 a, Half2 b) {                                                          \
        return Half2{__ocml_##name##_f16(a.x, b.x), __ocml_##name##_f16(a.y, b.y)};                                 \
    }

KV_SAME(ceil) KV_SAME(cos) KV_SAME(exp) KV_SAME(exp2) KV_SAME(fabs) KV_SAME(floor) KV_SAME(log) KV_SAME(log10) KV_SAME(log2)
KV_SAME(rint) KV_SAME(round) KV_SAME(sin) KV_SAME(sqrt) KV_SAME(tan) KV_SAME(tanh) KV_SAME(trunc) KV_SAME(erf) KV_SAME(expm1)
KV_SAME(log1p) KV_SAME(sinh) KV_SAME(cosh) KV_SAME(acos) KV_SAME(acosh) KV_SAME(asin) KV_SAME(asinh) KV_SAME(atan)
KV_SAME(atanh) KV_SAME(cbrt) KV_SAME(erfc) KV_SAME(tgamma) KV_SAME(lgamma) KV_SAME(nearbyint) KV_SAME(logb)
KV_ONE(exp10, std::pow(10.f, x))
KV_ONE(rsqrt, 1 / std::sqrt(x))
KV_TWO(fmax, std::fmax(x, y))
KV_TWO(fmin, std::fmin(x, y))
KV_TWO(pow, std::pow(x, y))
KV_TWO(fmod, std::fmod(x, y))
KV_TWO(copysign, std::copysign(x, y))
KV_TWO(atan2, std::atan2(x, y))
KV_TWO(fdim, std::fdim(x, y))
KV_TWO(hypot, std::hypot(x, y))
KV_TWO(remainder, std::remainder(x, y))

// Exact in double precision wherever that decides, and rounded once.
KV_MATH Half __ocml_fma_f16(Half x, Half y, Half z) { return Half(kv::to_odd(double(x) * double(y) + double(z))); }
KV_MATH Half2 __ocml_fma_2f16(Half2 x, Half2 y, Half2 z) {
    return Half2{__ocml_fma_f16(x.x, y.x, z.x), __ocml_fma_f16(x.y, y.y, z.y)};
}
KV_MATH Half __ocml_pown_f16(Half x, int n) { return Half(std::pow(float(x), float(n))); }
KV_MATH Half2 __ocml_pown_2f16(Half2 x, Short2 n) { return Half2{__ocml_pown_f16(x.x, n.x), __ocml_pown_f16(x.y, n.y)}; }
KV_MATH Half __ocml_ldexp_f16(Half x, int n) { return Half(std::ldexp(float(x), n)); }
KV_MATH int __ocml_isnan_f16(Half x) { return x != x; }
KV_MATH int __ocml_isinf_f16(Half x) { return __builtin_isinf(float(x)) != 0; }
KV_MATH int __ocml_isfinite_f16(Half x) { return __builtin_isfinite(float(x)); }
KV_MATH int __ocml_signbit_f16(Half x) { return __builtin_signbit(float(x)) != 0; }
KV_MATH Short2 __ocml_isnan_2f16(Half2 x) { return Short2{short(-(x.x != x.x)), short(-(x.y != x.y))}; }
KV_MATH Short2 __ocml_isinf_2f16(Half2 x) {
    return Short2{short(-__ocml_isinf_f16(x.x)), short(-__ocml_isinf_f16(x.y))};
}
