#include <hip/hip_runtime.h>

__global__ void values(const float* xs, const float* ys, const float* zs, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    float y = ys[i];
    float z = zs[i];
    out[i] = fmaf(x, y, z);
    out[n + i] = __fmaf_rn(x, y, z);
    out[2 * n + i] = x * y + z;
    out[3 * n + i] = __builtin_fmaf(-x, y, z);
}

extern "C" void run(const float* xs, const float* ys, const float* zs, int64_t n, int64_t, int64_t, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, ys, zs, out, n);
}
