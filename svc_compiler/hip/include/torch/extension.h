// What <torch/extension.h> brings to a kernel's source. Text of our own: it compiles in a fraction of libtorch's time, and
// what host code asks for is recorded, never computed.
#pragma once
#include <pybind11/pybind11.h>
#include <torch/library.h>

namespace torch {
template <class F>
F wrap_pybind_function(F function) {
    return function;
}
template <class F>
F wrap_pybind_function_no_gil(F function) {
    return function;
}
}  // namespace torch
