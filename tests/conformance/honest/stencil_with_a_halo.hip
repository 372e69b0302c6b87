#include <hip/hip_runtime.h>

__global__ void blur(const float* x, float* out, int64_t n) {
    __shared__ float tile[66];
    int64_t i = blockIdx.x * int64_t(64) + threadIdx.x;
    tile[threadIdx.x + 1] = i < n ? x[i] : 0;
    if (threadIdx.x == 0) tile[0] = i ? x[i - 1] : 0;
    if (threadIdx.x == 63) tile[65] = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    if (i < n) out[i] = tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    blur<<<(n + 63) / 64, 64, 0, stream>>>(x, out, n);
}
