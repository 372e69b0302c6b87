// Checks of HIP's error codes. Text of our own; libtorch's names.
#pragma once
#include <c10/util/Exception.h>
#include <hip/hip_runtime.h>

namespace kernelvault {
// Throws c10::Error with the error's text.
void check_hip(hipError_t error, const char* what, const char* file, int line);
}  // namespace kernelvault

#define C10_HIP_CHECK(...) ::kernelvault::check_hip((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define C10_HIP_CHECK_WARN(...) C10_HIP_CHECK(__VA_ARGS__)
#define C10_HIP_KERNEL_LAUNCH_CHECK() C10_HIP_CHECK(hipGetLastError())
#define C10_CUDA_CHECK(...) C10_HIP_CHECK(__VA_ARGS__)
#define C10_CUDA_CHECK_WARN(...) C10_HIP_CHECK(__VA_ARGS__)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_HIP_KERNEL_LAUNCH_CHECK()
#define AT_CUDA_CHECK(...) C10_HIP_CHECK(__VA_ARGS__)
#define AT_HIP_CHECK(...) C10_HIP_CHECK(__VA_ARGS__)
#define TORCH_CUDA_CHECK(...) C10_HIP_CHECK(__VA_ARGS__)
