// Loops over a grid, as libtorch's kernels write them. Text of our own; libtorch's names.
#pragma once
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type)                                                                 \
    for (int64_t kernelvault_at = int64_t{blockIdx.x} * blockDim.x + threadIdx.x, kernelvault_end = (n);        \
         kernelvault_at < kernelvault_end; kernelvault_at += int64_t{blockDim.x} * gridDim.x)                   \
        if (const index_type i = static_cast<index_type>(kernelvault_at); true)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)

namespace at::cuda::detail {
constexpr int CUDA_NUM_THREADS = 1024;
// The blocks for `count` elements.
inline int GET_BLOCKS(int64_t count, int64_t threads = CUDA_NUM_THREADS) {
    TORCH_CHECK(count > 0, "the grid is empty: ", count, " elements");
    return static_cast<int>(std::min<int64_t>((count - 1) / threads + 1, std::numeric_limits<int>::max()));
}
}  // namespace at::cuda::detail
