#include <hip/hip_runtime.h>

__global__ void values(const float* xs, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    out[i] = x * 0.5f;
    out[n + i] = x + 0x1p-149f;
    out[2 * n + i] = fmaf(x, 0.25f, 0x1p-140f);
    out[3 * n + i] = sqrtf(x);
    out[4 * n + i] = 1e-20f / (x * 1e20f);
    out[5 * n + i] = expf(-95.0f - x);
    out[6 * n + i] = 0x1p-130f / 3.0f + x;
    out[7 * n + i] = fabsf(-x);
}

extern "C" void run(const float* xs, int64_t n, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, out, n);
}
