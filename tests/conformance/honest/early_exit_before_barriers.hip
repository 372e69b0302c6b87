#include <hip/hip_runtime.h>

__global__ void reversed(const float* x, float* out, int64_t n) {
    __shared__ float tile[128];
    if (threadIdx.x >= n) return;
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    reversed<<<1, 128, 0, stream>>>(x, out, n);
}
