#include <hip/hip_runtime.h>

__device__ float table[64];

__global__ void fill(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i];
    if (i == 5) table[i * 1000] = x[i];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    fill<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
