#include <hip/hip_runtime.h>

__global__ void twice(const float* x, float* out) {
    __shared__ float tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float first = tile[127 - threadIdx.x];
    __syncthreads();
    tile[127 - threadIdx.x] = first + 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    twice<<<1, 128, 0, stream>>>(x, out);
}
