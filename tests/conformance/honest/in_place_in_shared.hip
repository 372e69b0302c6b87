#include <hip/hip_runtime.h>

__global__ void powers(const float* x, float* out) {
    __shared__ float tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    for (int k = 0; k < 3; k++) tile[threadIdx.x] = tile[threadIdx.x] * 0.5f + 1;
    __syncthreads();
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    powers<<<1, 128, 0, stream>>>(x, out);
}
