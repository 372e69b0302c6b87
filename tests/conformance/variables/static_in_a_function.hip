#include <hip/hip_runtime.h>

__device__ float pick(int k) {
    static const float table[5] = {1, 2, 4, 8, 16};
    return table[k];
}
__global__ void scale(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = x[i] * pick(i % 5);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    scale<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
