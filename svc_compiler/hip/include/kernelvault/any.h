// For operators that libtorch has and a launch plan has not: they compile, so that the report can name them, and throw
// when they are called. Text of our own.
#pragma once
#include <cstdint>
#include <initializer_list>

namespace at {
class Tensor;
}

namespace kernelvault {

// Takes any argument, braced lists too.
struct Any {
    Any() = default;
    template <class T>
    Any(T&&) {}
    Any(std::initializer_list<int64_t>) {}
    Any(std::initializer_list<at::Tensor>) {}
    Any(std::initializer_list<Any>) {}
};

// Records the operator, which ends the candidate even if it catches the c10::Error that this throws.
[[noreturn]] void foreign_operator(const char* name);

}  // namespace kernelvault

#define KERNELVAULT_ARGUMENTS                                                                                   \
    ::kernelvault::Any = {}, ::kernelvault::Any = {}, ::kernelvault::Any = {}, ::kernelvault::Any = {},         \
        ::kernelvault::Any = {}, ::kernelvault::Any = {}, ::kernelvault::Any = {}, ::kernelvault::Any = {}
