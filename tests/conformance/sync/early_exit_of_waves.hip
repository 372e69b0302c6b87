#include <hip/hip_runtime.h>

__global__ void part(const int* x, int* out) {
    __shared__ int tile[64];
    if (threadIdx.x >= 64) return;
    tile[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    part<<<n / 64, 256, 0, stream>>>(x, out);
}
