// What <torch/extension.h> brings to a kernel's source. Text of our own: it compiles in a fraction of libtorch's time, and
// what host code asks for is recorded, never computed.
#pragma once
#include <pybind11/pybind11.h>
#include <torch/types.h>
