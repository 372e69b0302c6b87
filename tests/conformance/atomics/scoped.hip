#include <hip/hip_runtime.h>

__global__ void start(int* out) { out[threadIdx.x] = 0; }
__global__ void count(const int* x, int* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    __hip_atomic_fetch_add(out, x[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_max(out + 1, x[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_or(out + 2, 1 << (i % 5), __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_SYSTEM);
    int expected = 0;
    if (__hip_atomic_compare_exchange_strong(out + 3, &expected, 7, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))
        __hip_atomic_store(out + 4, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    start<<<1, 5, 0, stream>>>(out);
    count<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
