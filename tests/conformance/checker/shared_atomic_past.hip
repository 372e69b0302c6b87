#include <hip/hip_runtime.h>

__global__ void histogram(const float* x, float* out) {
    __shared__ unsigned bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x == 70 ? 16 : 3], 1u);  // here
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x % 16];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    histogram<<<1, 128, 0, stream>>>(x, out);
}
