#include <hip/hip_runtime.h>

__global__ void dots(const int* x, const int* y, int* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    char4 a = __builtin_bit_cast(char4, x[i]), b = __builtin_bit_cast(char4, y[i]);
    uchar4 c = __builtin_bit_cast(uchar4, x[i]), d = __builtin_bit_cast(uchar4, y[i]);
    out[i] = __builtin_amdgcn_sdot4(x[i], y[i], 5, false);
    out[n + i] = __builtin_amdgcn_udot4(x[i], y[i], 5, false);
    out[2 * n + i] = amd_mixed_dot(a, b, 5, false);
    out[3 * n + i] = amd_mixed_dot(c, d, 5u, false);
    out[4 * n + i] = __builtin_amdgcn_sdot8(x[i], y[i], 5, false);
}

extern "C" void run(const int* x, const int* y, int64_t n, int64_t, int* out, hipStream_t stream) {
    dots<<<(n + 255) / 256, 256, 0, stream>>>(x, y, out, n);
}
