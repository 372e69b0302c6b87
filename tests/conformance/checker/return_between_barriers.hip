#include <hip/hip_runtime.h>

__global__ void steps(const float* x, float* out) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();  // here
    float other = tile[threadIdx.x ^ 1];
    out[threadIdx.x] = other;
    if (other < 0) return;
    __syncthreads();  // here
    out[threadIdx.x] += tile[63 - threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    steps<<<1, 64, 0, stream>>>(x, out);
}
