// Atomics with scopes, votes of tiles in a wave that is not full, coalesced threads.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
namespace cg = cooperative_groups;

template <typename T> __global__ void sum_rows(const T* x, float* y, int cols, int* tiles) {
    __shared__ double total;
    if (threadIdx.x == 0) total = 0.0;
    __syncthreads();
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    double s = 0;
    for (int i = threadIdx.x; i < cols; i += 96) s += float(x[blockIdx.x * cols + i]);
    if (tile.any(threadIdx.x < cols)) {
        for (int o = 8; o; o >>= 1) s += tile.shfl_down(s, o);
        if (tile.thread_rank() == 0) {
            __hip_atomic_fetch_add(&total, s, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
            __hip_atomic_fetch_add(tiles, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) __hip_atomic_store(&y[blockIdx.x], (float)total, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

template <typename T> void go(const T* x, int64_t rows, int64_t cols, float* out, hipStream_t stream) {
    int* tiles;
    hipMallocAsync((void**)&tiles, sizeof(int), stream);
    hipMemsetAsync(tiles, 0, sizeof(int), stream);
    sum_rows<<<rows, 96, 0, stream>>>(x, out, cols, tiles);
    hipFreeAsync(tiles, stream);
}
extern "C" void run(const float* x, int64_t r, int64_t c, float* out, hipStream_t s) { go(x, r, c, out, s); }
extern "C" void run_float16(const __half* x, int64_t r, int64_t c, float* out, hipStream_t s) { go(x, r, c, out, s); }
