#include <hip/hip_runtime.h>

// Sixteen bins: each has four lanes of a wave.
__global__ void count(const float* x, int* out) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(out + threadIdx.x, bins[threadIdx.x]);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    hipMemsetAsync(out, 0, n * 4, stream);
    count<<<n / 256, 256, 0, stream>>>(x, (int*)out);
}
