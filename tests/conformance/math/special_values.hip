#include <hip/hip_runtime.h>

__global__ void values(const float* xs, const float* ys, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    float y = ys[i];
    out[i] = fmaxf(x, y);
    out[n + i] = fminf(x, y);
    out[2 * n + i] = powf(x, y);
    out[3 * n + i] = atan2f(x, y);
    out[4 * n + i] = fmodf(x, y);
    out[5 * n + i] = hypotf(x, y);
    out[6 * n + i] = x / y;
    out[7 * n + i] = sqrtf(x);
    out[8 * n + i] = logf(x);
    out[9 * n + i] = expf(x);
    out[10 * n + i] = tanhf(x);
    out[11 * n + i] = fdimf(x, y);
    out[12 * n + i] = copysignf(x, y);
    out[13 * n + i] = (float)isnan(x) + 2 * (float)isinf(y) + 4 * (float)signbit(x) + 8 * (float)isfinite(y);
}

extern "C" void run(const float* xs, const float* ys, int64_t n, int64_t, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, ys, out, n);
}
