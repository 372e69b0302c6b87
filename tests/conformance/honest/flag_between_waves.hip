#include <hip/hip_runtime.h>

__global__ void handed_over(const float* x, float* out) {
    __shared__ float value[64];
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 64) {
        value[threadIdx.x] = x[threadIdx.x] + 1;
        __threadfence_block();
        if (threadIdx.x == 0) __hip_atomic_store(&flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
    } else if (threadIdx.x == 64) {
        while (__hip_atomic_load(&flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) == 0) {}
    }
    __syncthreads();
    out[threadIdx.x] = value[threadIdx.x % 64];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    handed_over<<<1, 128, 0, stream>>>(x, out);
}
