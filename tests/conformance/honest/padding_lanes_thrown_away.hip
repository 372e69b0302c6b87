#include <hip/hip_runtime.h>

__global__ void shifted(const float* x, float* out, int64_t n) {
    __shared__ float tile[258];
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) tile[threadIdx.x + 1] = x[i];
    __syncthreads();
    // The first and the last column were never filled: they are read, and what is read is not used.
    float left = tile[threadIdx.x], right = tile[threadIdx.x + 2];
    float sum = (threadIdx.x > 0 ? left : 0) + (threadIdx.x < 255 && i + 1 < n ? right : 0);
    if (i < n) out[i] = sum;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    shifted<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
