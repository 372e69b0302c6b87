#include <hip/hip_runtime.h>

__global__ void sums(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    float sum;
    for (int k = 0; k < 4; k++) sum += x[(i + k) % n];
    if (i < n) out[i] = sum;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    sums<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
