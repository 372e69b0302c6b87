#include <hip/hip_runtime.h>

__global__ void first_of_pairs(const float* x, float* out) {
    __shared__ float tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x % 2) return;
    out[threadIdx.x / 2] = tile[threadIdx.x] + tile[threadIdx.x + 1];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    first_of_pairs<<<1, 128, 0, stream>>>(x, out);
}
