// TORCH_LIBRARY: operators that libtorch's dispatcher would call. A plan has none: the macro says so. Text of our own.
#pragma once
#include <torch/types.h>

namespace kernelvault {
void registers_operators(const char* library);  // in the recorder
}  // namespace kernelvault

namespace torch {

class Library {
 public:
    template <class... T>
    Library& def(T&&...) & {
        return *this;
    }
    template <class... T>
    Library& impl(T&&...) & {
        return *this;
    }
};

}  // namespace torch

// Runs while host.so is loaded.
#define KERNELVAULT_LIBRARY(name, variable, number)                                                             \
    static void C10_CONCATENATE(kernelvault_library_, number)(torch::Library&);                                 \
    static const bool C10_CONCATENATE(kernelvault_registers_, number) = [] {                                    \
        torch::Library library;                                                                                 \
        C10_CONCATENATE(kernelvault_library_, number)(library);                                                 \
        ::kernelvault::registers_operators(name);                                                               \
        return true;                                                                                            \
    }();                                                                                                        \
    static void C10_CONCATENATE(kernelvault_library_, number)([[maybe_unused]] torch::Library& variable)
#define TORCH_LIBRARY(name, variable) KERNELVAULT_LIBRARY("TORCH_LIBRARY(" #name ")", variable, __LINE__)
#define TORCH_LIBRARY_FRAGMENT(name, variable) KERNELVAULT_LIBRARY("TORCH_LIBRARY_FRAGMENT(" #name ")", variable, __LINE__)
#define TORCH_LIBRARY_IMPL(name, key, variable) KERNELVAULT_LIBRARY("TORCH_LIBRARY_IMPL(" #name ")", variable, __LINE__)
