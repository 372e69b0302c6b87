#include <hip/hip_runtime.h>

__global__ void values(const float* xs, const float* ys, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    float y = ys[i];
    out[i] = sinf(x);
    out[n + i] = cosf(x);
    out[2 * n + i] = tanf(x);
    out[3 * n + i] = sinpif(y);
    out[4 * n + i] = cospif(y);
    out[5 * n + i] = asinf(y);
    out[6 * n + i] = acosf(y);
    out[7 * n + i] = atanf(x);
    out[8 * n + i] = atan2f(x, y);
    out[9 * n + i] = atan2f(y, -fabsf(x));
}

extern "C" void run(const float* xs, const float* ys, int64_t n, int64_t, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, ys, out, n);
}
