// Macros of libtorch's c10 that kernels use. Text of our own: the names follow libtorch's C++ API.
#pragma once
#include <hip/hip_runtime.h>

#define C10_HOST_DEVICE __host__ __device__
#define C10_HOST __host__
#define C10_DEVICE __device__
#define C10_ALWAYS_INLINE __attribute__((__always_inline__)) inline
#define C10_LIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 1))
#define C10_UNLIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 0))
#define C10_UNUSED __attribute__((__unused__))
#define C10_NODISCARD [[nodiscard]]
#define C10_RESTRICT __restrict
#define C10_API
#define C10_EXPORT
#define C10_HIP_API
#define C10_CUDA_API
#define TORCH_API
#define TORCH_CUDA_CPP_API
#define TORCH_HIP_API
#define C10_WARP_SIZE 64
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__((threads))
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__((threads), (blocks))
#define C10_CONCATENATE_IMPL(a, b) a##b
#define C10_CONCATENATE(a, b) C10_CONCATENATE_IMPL(a, b)
#define C10_STRINGIZE_IMPL(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)
#define CUDA_KERNEL_ASSERT(condition) \
    if (C10_UNLIKELY(!(condition))) { __builtin_trap(); }
#define HIP_KERNEL_ASSERT(condition) CUDA_KERNEL_ASSERT(condition)

// Device code is compiled for ROCm, as a torch extension is.
#ifndef USE_ROCM
#define USE_ROCM 1
#endif

// What c10 has is also found in at, as in libtorch.
namespace c10 {
namespace cuda {}
namespace hip {}
}  // namespace c10
namespace at {
using namespace c10;  // NOLINT
namespace cuda {
using namespace c10::cuda;  // NOLINT
}
namespace hip {
using namespace c10::hip;  // NOLINT
}
}  // namespace at
