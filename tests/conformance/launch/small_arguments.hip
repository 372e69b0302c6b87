#include <hip/hip_runtime.h>

__global__ void mix(const float* x, float* out, bool negate, char a, short b, unsigned char c, double d, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = (negate ? -x[i] : x[i]) + a + b + c + d;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    mix<<<(n + 255) / 256, 256, 0, stream>>>(x, out, true, -3, 300, 200, 0.5, n);
}
