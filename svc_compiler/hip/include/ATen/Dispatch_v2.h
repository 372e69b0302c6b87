// AT_DISPATCH_V2: a lambda and a list of dtypes. Text of our own; libtorch's names.
#pragma once
#include <ATen/Dispatch.h>

#define AT_EXPAND(...) __VA_ARGS__
#define AT_WRAP(...) __VA_ARGS__
#define AT_FLOATING_TYPES ::c10::ScalarType::Double, ::c10::ScalarType::Float
#define AT_REDUCED_FLOATING_TYPES ::c10::ScalarType::Half, ::c10::ScalarType::BFloat16
#define AT_INTEGRAL_TYPES \
    ::c10::ScalarType::Byte, ::c10::ScalarType::Char, ::c10::ScalarType::Int, ::c10::ScalarType::Long, ::c10::ScalarType::Short
#define AT_INTEGRAL_TYPES_V2 \
    AT_INTEGRAL_TYPES, ::c10::ScalarType::UInt16, ::c10::ScalarType::UInt32, ::c10::ScalarType::UInt64
#define AT_ALL_TYPES AT_INTEGRAL_TYPES, AT_FLOATING_TYPES

// Each dtype in its turn: a macro that names itself is expanded once a scan, and KERNELVAULT_SCANS makes many.
#define KERNELVAULT_SCANS(...) KERNELVAULT_SCANS_3(KERNELVAULT_SCANS_3(KERNELVAULT_SCANS_3(__VA_ARGS__)))
#define KERNELVAULT_SCANS_3(...) KERNELVAULT_SCANS_2(KERNELVAULT_SCANS_2(KERNELVAULT_SCANS_2(__VA_ARGS__)))
#define KERNELVAULT_SCANS_2(...) KERNELVAULT_SCANS_1(KERNELVAULT_SCANS_1(KERNELVAULT_SCANS_1(__VA_ARGS__)))
#define KERNELVAULT_SCANS_1(...) __VA_ARGS__
#define KERNELVAULT_EACH(body, type, ...) \
    AT_DISPATCH_CASE(type, AT_EXPAND body) __VA_OPT__(KERNELVAULT_AGAIN KERNELVAULT_LATER ()(body, __VA_ARGS__))
#define KERNELVAULT_LATER
#define KERNELVAULT_AGAIN() KERNELVAULT_EACH
#define AT_DISPATCH_V2(type, name, body, ...) \
    AT_DISPATCH_SWITCH(type, name, KERNELVAULT_SCANS(KERNELVAULT_EACH((body), __VA_ARGS__)))
