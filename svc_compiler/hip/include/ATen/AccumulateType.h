// at::acc_type and at::opmath_type: the type to accumulate and to compute in. Text of our own.
#pragma once
#include <c10/core/ScalarType.h>

namespace at {

template <class T, bool is_cuda>
struct AccumulateType {
    using type = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
};
template <>
struct AccumulateType<float, false> {
    using type = double;
};
template <bool is_cuda>
struct AccumulateType<bool, is_cuda> {
    using type = bool;
};
template <bool is_cuda>
struct AccumulateType<c10::Half, is_cuda> {
    using type = float;
};
template <bool is_cuda>
struct AccumulateType<c10::BFloat16, is_cuda> {
    using type = float;
};
template <class T, bool is_cuda>
using acc_type = typename AccumulateType<T, is_cuda>::type;

template <class T>
struct OpMathType {
    using type = T;
};
template <>
struct OpMathType<c10::Half> {
    using type = float;
};
template <>
struct OpMathType<c10::BFloat16> {
    using type = float;
};
template <class T>
using opmath_type = typename OpMathType<T>::type;

}  // namespace at
