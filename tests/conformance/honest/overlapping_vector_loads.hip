#include <hip/hip_runtime.h>

__global__ void windows(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (2 * i + 4 > n) return;
    float2 a = reinterpret_cast<const float2*>(x)[i], b = reinterpret_cast<const float2*>(x)[i + 1];
    out[i] = a.x + a.y + b.x + b.y;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    windows<<<(n / 2 + 255) / 256, 256, 0, stream>>>(x, out, n);
}
