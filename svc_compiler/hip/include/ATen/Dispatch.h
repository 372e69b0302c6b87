// AT_DISPATCH_*: calls a lambda with scalar_t set by a tensor's dtype. Text of our own; libtorch's names.
#pragma once
#include <ATen/core/Tensor.h>

namespace kernelvault {
[[noreturn]] void not_dispatched(const char* name, at::ScalarType type);  // throws c10::Error
inline at::ScalarType dispatch_type(at::ScalarType type) { return type; }
inline at::ScalarType dispatch_type(const at::DeprecatedTypeProperties& type) { return type.type; }
inline at::ScalarType dispatch_type(caffe2::TypeMeta type) { return type.toScalarType(); }
}  // namespace kernelvault

#define AT_PRIVATE_CASE_TYPE_USING_HINT(type, hint, ...)                       \
    case type: {                                                               \
        using hint [[maybe_unused]] = ::c10::ScalarTypeToCPPTypeT<type>;       \
        return __VA_ARGS__();                                                  \
    }
#define AT_DISPATCH_CASE(type, ...) AT_PRIVATE_CASE_TYPE_USING_HINT(type, scalar_t, __VA_ARGS__)
#define AT_DISPATCH_SWITCH(type, name, ...)                                                    \
    [&] {                                                                                      \
        const auto kernelvault_type = ::kernelvault::dispatch_type(type);                      \
        switch (kernelvault_type) {                                                            \
            __VA_ARGS__                                                                        \
            default: ::kernelvault::not_dispatched(name, kernelvault_type);                    \
        }                                                                                      \
    }()

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)                       \
    AT_DISPATCH_CASE(::c10::ScalarType::Double, __VA_ARGS__)       \
    AT_DISPATCH_CASE(::c10::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND(a, ...) \
    AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(a, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND2(a, b, ...) \
    AT_DISPATCH_CASE_FLOATING_TYPES_AND(a, __VA_ARGS__) AT_DISPATCH_CASE(b, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) \
    AT_DISPATCH_CASE_FLOATING_TYPES_AND(::c10::ScalarType::Half, __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...)             \
    AT_DISPATCH_CASE(::c10::ScalarType::Half, __VA_ARGS__)       \
    AT_DISPATCH_CASE(::c10::ScalarType::BFloat16, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)                    \
    AT_DISPATCH_CASE(::c10::ScalarType::Byte, __VA_ARGS__)      \
    AT_DISPATCH_CASE(::c10::ScalarType::Char, __VA_ARGS__)      \
    AT_DISPATCH_CASE(::c10::ScalarType::Int, __VA_ARGS__)       \
    AT_DISPATCH_CASE(::c10::ScalarType::Long, __VA_ARGS__)      \
    AT_DISPATCH_CASE(::c10::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES_AND(a, ...) \
    AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(a, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) \
    AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND(a, ...) AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(a, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND2(a, b, ...) \
    AT_DISPATCH_CASE_ALL_TYPES_AND(a, __VA_ARGS__) AT_DISPATCH_CASE(b, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND3(a, b, c, ...) \
    AT_DISPATCH_CASE_ALL_TYPES_AND2(a, b, __VA_ARGS__) AT_DISPATCH_CASE(c, __VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(a, type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND(a, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(a, b, type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND2(a, b, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(__VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND(a, type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND(a, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(a, type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND(a, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(a, b, type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND2(a, b, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(a, b, c, type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND3(a, b, c, __VA_ARGS__))
// The same for more dtypes. Complex ones are left out: no plan has them.
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND3(a, b, c, ...) \
    AT_DISPATCH_CASE_FLOATING_TYPES_AND2(a, b, __VA_ARGS__) AT_DISPATCH_CASE(c, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND3(a, b, c, type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND3(a, b, c, __VA_ARGS__))
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND4(a, b, c, d, ...) \
    AT_DISPATCH_CASE_FLOATING_TYPES_AND3(a, b, c, __VA_ARGS__) AT_DISPATCH_CASE(d, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND4(a, b, c, d, type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_FLOATING_TYPES_AND4(a, b, c, d, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND4(a, b, c, d, ...) \
    AT_DISPATCH_CASE_ALL_TYPES_AND3(a, b, c, __VA_ARGS__) AT_DISPATCH_CASE(d, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND4(a, b, c, d, type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND4(a, b, c, d, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND5(a, b, c, d, e, ...) \
    AT_DISPATCH_CASE_ALL_TYPES_AND4(a, b, c, d, __VA_ARGS__) AT_DISPATCH_CASE(e, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND5(a, b, c, d, e, type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND5(a, b, c, d, e, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND6(a, b, c, d, e, f, ...) \
    AT_DISPATCH_CASE_ALL_TYPES_AND5(a, b, c, d, e, __VA_ARGS__) AT_DISPATCH_CASE(f, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND6(a, b, c, d, e, f, type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND6(a, b, c, d, e, f, __VA_ARGS__))
#define AT_DISPATCH_CASE_ALL_TYPES_AND7(a, b, c, d, e, f, g, ...) \
    AT_DISPATCH_CASE_ALL_TYPES_AND6(a, b, c, d, e, f, __VA_ARGS__) AT_DISPATCH_CASE(g, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND7(a, b, c, d, e, f, g, type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_ALL_TYPES_AND7(a, b, c, d, e, f, g, __VA_ARGS__))
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES_AND(a, ...) \
    AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(a, __VA_ARGS__)
#define AT_DISPATCH_REDUCED_FLOATING_TYPES_AND(a, type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES_AND(a, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(type, name, ...) AT_DISPATCH_FLOATING_TYPES(type, name, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(a, type, name, ...) \
    AT_DISPATCH_FLOATING_TYPES_AND(a, type, name, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(a, b, type, name, ...) \
    AT_DISPATCH_FLOATING_TYPES_AND2(a, b, type, name, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(a, b, c, type, name, ...) \
    AT_DISPATCH_FLOATING_TYPES_AND3(a, b, c, type, name, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND4(a, b, c, d, type, name, ...) \
    AT_DISPATCH_FLOATING_TYPES_AND4(a, b, c, d, type, name, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(type, name, ...) AT_DISPATCH_ALL_TYPES(type, name, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(a, type, name, ...) \
    AT_DISPATCH_ALL_TYPES_AND(a, type, name, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(a, b, type, name, ...) \
    AT_DISPATCH_ALL_TYPES_AND2(a, b, type, name, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(a, b, c, type, name, ...) \
    AT_DISPATCH_ALL_TYPES_AND3(a, b, c, type, name, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND4(a, b, c, d, type, name, ...) \
    AT_DISPATCH_ALL_TYPES_AND4(a, b, c, d, type, name, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND5(a, b, c, d, e, type, name, ...) \
    AT_DISPATCH_ALL_TYPES_AND5(a, b, c, d, e, type, name, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND6(a, b, c, d, e, f, type, name, ...) \
    AT_DISPATCH_ALL_TYPES_AND6(a, b, c, d, e, f, type, name, __VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(type, name, ...)                                                             \
    AT_DISPATCH_SWITCH(type, name,                                                                           \
                       AT_PRIVATE_CASE_TYPE_USING_HINT(::c10::ScalarType::Int, index_t, __VA_ARGS__)         \
                       AT_PRIVATE_CASE_TYPE_USING_HINT(::c10::ScalarType::Long, index_t, __VA_ARGS__))
