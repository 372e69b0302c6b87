#include <hip/hip_runtime.h>

__global__ void values(const float* xs, const float* ys, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    float y = ys[i];
    out[i] = powf(x, y);
    out[n + i] = sqrtf(x);
    out[2 * n + i] = rsqrtf(x);
    out[3 * n + i] = cbrtf(-x);
    out[4 * n + i] = rcbrtf(x);
    out[5 * n + i] = hypotf(x, y);
    out[6 * n + i] = rhypotf(x, y);
    out[7 * n + i] = norm3df(x, y, 2.0f);
    out[8 * n + i] = norm4df(x, y, 2.0f, -3.0f);
    out[9 * n + i] = rnorm3df(x, y, 2.0f);
    out[10 * n + i] = powif(x, -3);
}

extern "C" void run(const float* xs, const float* ys, int64_t n, int64_t, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, ys, out, n);
}
