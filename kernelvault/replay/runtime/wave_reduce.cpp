// LLVM's reductions of the active lanes of a wave, from the lowest lane to the highest; a difference begins with 0.
#include <cmath>
#include <cstdint>

#include "amdgcn.h"
#include "scheduler.h"

namespace {

template <class T, class Fold>
void reduce(uint64_t mask, void* const* arguments) {
    T result = Fold::template start<T>();
    for (uint64_t left = mask; left; left &= left - 1)
        result = Fold::fold(result, *static_cast<T*>(arguments[__builtin_ctzll(left)]));
    for (uint64_t left = mask; left; left &= left - 1) *static_cast<T*>(arguments[__builtin_ctzll(left)]) = result;
}

#define KV_FOLD(name, first, expression)                     \
    struct name {                                            \
        template <class T>                                   \
        static T start() { return T(first); }                \
        template <class T>                                   \
        static T fold(T a, T b) { return T(expression); }    \
    };
KV_FOLD(Add, 0, a + b)
KV_FOLD(Sub, 0, a - b)
KV_FOLD(And, -1, a & b)
KV_FOLD(Or, 0, a | b)
KV_FOLD(Xor, 0, a ^ b)
KV_FOLD(FAdd, -0.0, a + b)
KV_FOLD(FSub, 0, a - b)
KV_FOLD(FMin, NAN, std::fmin(a, b))
KV_FOLD(FMax, NAN, std::fmax(a, b))

template <class T>
constexpr T kLeast = T(-1) < T(0) ? T(1ull << (8 * sizeof(T) - 1)) : T(0);
struct Min {
    template <class T>
    static T start() { return T(~kLeast<T>); }
    template <class T>
    static T fold(T a, T b) { return b < a ? b : a; }
};
struct Max {
    template <class T>
    static T start() { return kLeast<T>; }
    template <class T>
    static T fold(T a, T b) { return b > a ? b : a; }
};

}  // namespace

#define KV_REDUCE(name, type, fold)                                  \
    extern "C" type __builtin_amdgcn_wave_reduce_##name(type value, int) { \
        kv::wait_for_wave(reduce<type, fold>, &value);               \
        return value;                                                \
    }
#define KV_REDUCE_INTEGERS(width, type)                  \
    KV_REDUCE(add_u##width, unsigned type, Add)          \
    KV_REDUCE(sub_u##width, unsigned type, Sub)          \
    KV_REDUCE(min_i##width, type, Min)                   \
    KV_REDUCE(min_u##width, unsigned type, Min)          \
    KV_REDUCE(max_i##width, type, Max)                   \
    KV_REDUCE(max_u##width, unsigned type, Max)          \
    KV_REDUCE(and_b##width, type, And)                   \
    KV_REDUCE(or_b##width, type, Or)                     \
    KV_REDUCE(xor_b##width, type, Xor)

KV_REDUCE_INTEGERS(32, int)
KV_REDUCE_INTEGERS(64, long)
KV_REDUCE(fadd_f32, float, FAdd)
KV_REDUCE(fsub_f32, float, FSub)
KV_REDUCE(fmin_f32, float, FMin)
KV_REDUCE(fmax_f32, float, FMax)
