#include <hip/hip_runtime.h>

__global__ void values(const float* xs, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    out[i] = expf(x);
    out[n + i] = exp2f(x);
    out[2 * n + i] = exp10f(x / 4);
    out[3 * n + i] = expm1f(x);
    out[4 * n + i] = logf(fabsf(x));
    out[5 * n + i] = log2f(fabsf(x));
    out[6 * n + i] = log10f(fabsf(x));
    out[7 * n + i] = log1pf(fabsf(x));
    out[8 * n + i] = expm1f(x * 1e-4f);
}

extern "C" void run(const float* xs, int64_t n, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, out, n);
}
