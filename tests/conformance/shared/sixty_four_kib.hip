#include <hip/hip_runtime.h>

__global__ void spread(const float* x, float* out) {
    __shared__ float memory[16384];
    for (int k = threadIdx.x; k < 16384; k += 1024) memory[k] = x[k % 1024] + k / 1024;
    __syncthreads();
    out[threadIdx.x] = memory[16383 - threadIdx.x * 16];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    spread<<<1, 1024, 0, stream>>>(x, out);
}
