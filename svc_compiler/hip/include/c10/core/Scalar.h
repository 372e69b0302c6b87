// c10::Scalar: a number of any type. Text of our own.
#pragma once
#include <c10/core/ScalarType.h>

namespace c10 {

class Scalar {
 public:
    Scalar() : Scalar(int64_t{0}) {}
    Scalar(bool value) : kind_(Kind::Bool), integer_(value) {}
    template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
    Scalar(T value) : kind_(Kind::Integer), integer_(static_cast<int64_t>(value)) {}
    template <class T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
    Scalar(T value) : kind_(Kind::Floating), floating_(value) {}
    Scalar(Half value) : Scalar(static_cast<float>(value)) {}
    Scalar(BFloat16 value) : Scalar(static_cast<float>(value)) {}

    template <class T>
    T to() const {
        return kind_ == Kind::Floating ? static_cast<T>(static_cast<float_or<T>>(floating_))
                                       : static_cast<T>(static_cast<float_or<T>>(integer_));
    }
    double toDouble() const { return to<double>(); }
    float toFloat() const { return to<float>(); }
    int64_t toLong() const { return to<int64_t>(); }
    int toInt() const { return to<int>(); }
    bool toBool() const { return to<bool>(); }
    bool isFloatingPoint() const { return kind_ == Kind::Floating; }
    bool isIntegral(bool includeBool = true) const { return kind_ == Kind::Integer || (includeBool && isBoolean()); }
    bool isBoolean() const { return kind_ == Kind::Bool; }
    ScalarType type() const {
        return isFloatingPoint() ? ScalarType::Double : isBoolean() ? ScalarType::Bool : ScalarType::Long;
    }

 private:
    // 16-bit types are made from a float.
    template <class T>
    using float_or = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
    enum class Kind { Bool, Integer, Floating } kind_;
    int64_t integer_ = 0;
    double floating_ = 0;
};

}  // namespace c10

namespace at {
using c10::Scalar;
}
