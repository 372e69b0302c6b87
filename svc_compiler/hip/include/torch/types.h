// Namespace torch: that of ATen, with the names of dtypes and devices. Text of our own; libtorch's names.
#pragma once
#include <ATen/AccumulateType.h>
#include <ATen/ATen.h>

namespace torch {

using namespace at;  // NOLINT
using at::Tensor;
using at::TensorOptions;
using c10::nullopt;
using c10::optional;
using Dtype = c10::ScalarType;
using IntArrayRef = at::IntArrayRef;
using c10::device;
using c10::dtype;
using c10::layout;
using c10::memory_format;
using c10::requires_grad;

inline constexpr Dtype kUInt8 = Dtype::Byte, kInt8 = Dtype::Char, kInt16 = Dtype::Short, kInt32 = Dtype::Int,
                       kInt64 = Dtype::Long, kFloat16 = Dtype::Half, kFloat32 = Dtype::Float,
                       kFloat64 = Dtype::Double, kU8 = Dtype::Byte, kI8 = Dtype::Char, kI16 = Dtype::Short,
                       kI32 = Dtype::Int, kI64 = Dtype::Long, kF16 = Dtype::Half, kF32 = Dtype::Float,
                       kF64 = Dtype::Double, kBF16 = Dtype::BFloat16;
using c10::kFloat8_e4m3fn;
using c10::kFloat8_e4m3fnuz;
using c10::kFloat8_e5m2;
using c10::kFloat8_e5m2fnuz;
using c10::kSparse;
using c10::kStrided;
using c10::kUInt16;
using c10::kUInt32;
using c10::kUInt64;

namespace cuda {
inline bool is_available() { return true; }
size_t device_count();
void synchronize(int64_t device = -1);
}  // namespace cuda

namespace nn::functional {
#define KERNELVAULT_OPERATOR(name) \
    inline Tensor name(const ::kernelvault::Any&, KERNELVAULT_ARGUMENTS) { ::kernelvault::foreign_operator(#name); }
KERNELVAULT_OPERATOR(relu)
KERNELVAULT_OPERATOR(gelu)
KERNELVAULT_OPERATOR(silu)
KERNELVAULT_OPERATOR(sigmoid)
KERNELVAULT_OPERATOR(softmax)
KERNELVAULT_OPERATOR(log_softmax)
KERNELVAULT_OPERATOR(layer_norm)
KERNELVAULT_OPERATOR(group_norm)
KERNELVAULT_OPERATOR(batch_norm)
KERNELVAULT_OPERATOR(normalize)
KERNELVAULT_OPERATOR(linear)
KERNELVAULT_OPERATOR(conv1d)
KERNELVAULT_OPERATOR(conv2d)
KERNELVAULT_OPERATOR(conv3d)
KERNELVAULT_OPERATOR(max_pool2d)
KERNELVAULT_OPERATOR(avg_pool2d)
KERNELVAULT_OPERATOR(pad)
KERNELVAULT_OPERATOR(dropout)
KERNELVAULT_OPERATOR(interpolate)
KERNELVAULT_OPERATOR(cross_entropy)
KERNELVAULT_OPERATOR(mse_loss)
#undef KERNELVAULT_OPERATOR
}  // namespace nn::functional

}  // namespace torch
