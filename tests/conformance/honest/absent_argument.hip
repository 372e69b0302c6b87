#include <hip/hip_runtime.h>

__global__ void scaled(const float* x, const float* scale, const float* bias, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = x[i] * (scale ? *scale : 2.0f) + (bias ? bias[i] : 0.0f);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    scaled<<<(n + 255) / 256, 256, 0, stream>>>(x, nullptr, nullptr, out, n);
}
