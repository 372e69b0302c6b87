#include <hip/hip_runtime.h>

__global__ void exponents(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    union { float number; unsigned bits; unsigned short halves[2]; } u;
    u.number = x[i];
    u.halves[0] = 0;
    u.bits &= 0x7fffffffu;
    out[i] = u.number;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    exponents<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
