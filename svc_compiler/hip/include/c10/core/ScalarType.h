// c10::ScalarType, TypeMeta and the C++ type of each dtype. Text of our own; the numbers are libtorch's.
#pragma once
#include <c10/util/BFloat16.h>
#include <c10/util/Exception.h>
#include <c10/util/Half.h>

#include <cstdint>
#include <ostream>

namespace c10 {

enum class ScalarType : int8_t {
    Byte = 0,
    Char = 1,
    Short = 2,
    Int = 3,
    Long = 4,
    Half = 5,
    Float = 6,
    Double = 7,
    ComplexHalf = 8,
    ComplexFloat = 9,
    ComplexDouble = 10,
    Bool = 11,
    BFloat16 = 15,
    Float8_e5m2 = 23,
    Float8_e4m3fn = 24,
    Float8_e5m2fnuz = 25,
    Float8_e4m3fnuz = 26,
    UInt16 = 27,
    UInt32 = 28,
    UInt64 = 29,
    Undefined = 45,
};

#define KERNELVAULT_SCALAR_TYPES(_)                                                                             \
    _(uint8_t, Byte) _(int8_t, Char) _(int16_t, Short) _(int, Int) _(int64_t, Long) _(c10::Half, Half)           \
    _(float, Float) _(double, Double) _(bool, Bool) _(c10::BFloat16, BFloat16) _(uint16_t, UInt16)               \
    _(uint32_t, UInt32) _(uint64_t, UInt64)

template <ScalarType>
struct ScalarTypeToCPPType;
template <class>
struct CppTypeToScalarType;
#define KERNELVAULT_MAP(cpp, name)                                                                              \
    template <>                                                                                                 \
    struct ScalarTypeToCPPType<ScalarType::name> {                                                              \
        using type = cpp;                                                                                       \
    };                                                                                                          \
    template <>                                                                                                 \
    struct CppTypeToScalarType<cpp> {                                                                           \
        static constexpr ScalarType value = ScalarType::name;                                                   \
    };                                                                                                          \
    inline constexpr ScalarType k##name = ScalarType::name;
KERNELVAULT_SCALAR_TYPES(KERNELVAULT_MAP)
#undef KERNELVAULT_MAP

inline constexpr ScalarType kFloat8_e5m2 = ScalarType::Float8_e5m2, kFloat8_e4m3fn = ScalarType::Float8_e4m3fn,
                            kFloat8_e5m2fnuz = ScalarType::Float8_e5m2fnuz,
                            kFloat8_e4m3fnuz = ScalarType::Float8_e4m3fnuz;

template <ScalarType type>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<type>::type;

const char* toString(ScalarType type);
size_t elementSize(ScalarType type);
bool isFloatingType(ScalarType type);
bool isIntegralType(ScalarType type, bool includeBool = false);
inline bool isReducedFloatingType(ScalarType type) { return type == ScalarType::Half || type == ScalarType::BFloat16; }
std::ostream& operator<<(std::ostream& out, ScalarType type);

}  // namespace c10

namespace caffe2 {

// What Tensor::dtype() returns; it compares with a ScalarType.
class TypeMeta {
 public:
    TypeMeta() = default;
    TypeMeta(c10::ScalarType type) : type_(type) {}
    template <class T>
    static TypeMeta Make() {
        return c10::CppTypeToScalarType<T>::value;
    }
    static TypeMeta fromScalarType(c10::ScalarType type) { return type; }
    c10::ScalarType toScalarType() const { return type_; }
    operator c10::ScalarType() const { return type_; }
    size_t itemsize() const { return c10::elementSize(type_); }
    const char* name() const { return c10::toString(type_); }
    template <class T>
    bool Match() const {
        return type_ == c10::CppTypeToScalarType<T>::value;
    }
    friend bool operator==(TypeMeta a, TypeMeta b) { return a.type_ == b.type_; }
    friend bool operator!=(TypeMeta a, TypeMeta b) { return a.type_ != b.type_; }
    friend bool operator==(TypeMeta a, c10::ScalarType b) { return a.type_ == b; }
    friend bool operator!=(TypeMeta a, c10::ScalarType b) { return a.type_ != b; }
    friend bool operator==(c10::ScalarType a, TypeMeta b) { return a == b.type_; }
    friend bool operator!=(c10::ScalarType a, TypeMeta b) { return a != b.type_; }
    friend std::ostream& operator<<(std::ostream& out, TypeMeta type) { return out << type.name(); }

 private:
    c10::ScalarType type_ = c10::ScalarType::Undefined;
};

template <class T>
TypeMeta dtype_of() {
    return TypeMeta::Make<T>();
}

}  // namespace caffe2

namespace c10 {
inline ScalarType typeMetaToScalarType(caffe2::TypeMeta type) { return type.toScalarType(); }
inline caffe2::TypeMeta scalarTypeToTypeMeta(ScalarType type) { return type; }
using caffe2::TypeMeta;
}  // namespace c10
