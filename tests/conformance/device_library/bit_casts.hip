#include <hip/hip_runtime.h>

__global__ void bits(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = __uint_as_float(__float_as_uint(x[i]) ^ 0x80000000u) + __int_as_float(0);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    bits<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
