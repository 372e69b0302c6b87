// What Half and BFloat16 share: 16 bits of storage, arithmetic through float. Text of our own.
//
// `KERNELVAULT_REDUCED_OPERATORS(T)` defines libtorch's operators of a 16-bit floating-point type T: T with T gives T, T
// with float or double gives that, T with an integer gives T.
#pragma once
#include <c10/macros/Macros.h>

#include <cstdint>

namespace c10 {
struct from_bits_t {};
inline constexpr from_bits_t from_bits{};
}  // namespace c10

#define KERNELVAULT_REDUCED_ARITHMETIC(T, op)                                                                  \
    inline C10_HOST_DEVICE T operator op(const T& a, const T& b) { return static_cast<float>(a) op static_cast<float>(b); } \
    inline C10_HOST_DEVICE float operator op(T a, float b) { return static_cast<float>(a) op b; }              \
    inline C10_HOST_DEVICE float operator op(float a, T b) { return a op static_cast<float>(b); }              \
    inline C10_HOST_DEVICE double operator op(T a, double b) { return static_cast<double>(a) op b; }           \
    inline C10_HOST_DEVICE double operator op(double a, T b) { return a op static_cast<double>(b); }           \
    inline C10_HOST_DEVICE T operator op(T a, int b) { return a op static_cast<T>(static_cast<float>(b)); }    \
    inline C10_HOST_DEVICE T operator op(int a, T b) { return static_cast<T>(static_cast<float>(a)) op b; }    \
    inline C10_HOST_DEVICE T operator op(T a, int64_t b) { return a op static_cast<T>(static_cast<float>(b)); } \
    inline C10_HOST_DEVICE T operator op(int64_t a, T b) { return static_cast<T>(static_cast<float>(a)) op b; }

#define KERNELVAULT_REDUCED_ASSIGNMENT(T, op)                                                               \
    inline C10_HOST_DEVICE T& operator op##=(T& a, const T& b) { return a = a op b; }                       \
    inline C10_HOST_DEVICE float& operator op##=(float& a, const T& b) { return a = a op static_cast<float>(b); }

// Exact matches, so that neither float's nor __half's own comparison is a candidate.
#define KERNELVAULT_REDUCED_COMPARISON(T, op) \
    inline C10_HOST_DEVICE bool operator op(const T& a, const T& b) { return static_cast<float>(a) op static_cast<float>(b); }

#define KERNELVAULT_REDUCED_OPERATORS(T)                                                                    \
    KERNELVAULT_REDUCED_ARITHMETIC(T, +)                                                                    \
    KERNELVAULT_REDUCED_ARITHMETIC(T, -)                                                                    \
    KERNELVAULT_REDUCED_ARITHMETIC(T, *)                                                                    \
    KERNELVAULT_REDUCED_ARITHMETIC(T, /)                                                                    \
    KERNELVAULT_REDUCED_ASSIGNMENT(T, +)                                                                    \
    KERNELVAULT_REDUCED_ASSIGNMENT(T, -)                                                                    \
    KERNELVAULT_REDUCED_ASSIGNMENT(T, *)                                                                    \
    KERNELVAULT_REDUCED_ASSIGNMENT(T, /)                                                                    \
    KERNELVAULT_REDUCED_COMPARISON(T, ==)                                                                   \
    KERNELVAULT_REDUCED_COMPARISON(T, !=)                                                                   \
    KERNELVAULT_REDUCED_COMPARISON(T, <)                                                                    \
    KERNELVAULT_REDUCED_COMPARISON(T, >)                                                                    \
    KERNELVAULT_REDUCED_COMPARISON(T, <=)                                                                   \
    KERNELVAULT_REDUCED_COMPARISON(T, >=)                                                                   \
    inline C10_HOST_DEVICE T operator-(const T& a) { return T(static_cast<unsigned short>(a.x ^ 0x8000), from_bits); }
