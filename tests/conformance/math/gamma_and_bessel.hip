#include <hip/hip_runtime.h>

__global__ void values(const float* xs, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    out[i] = tgammaf(x);
    out[n + i] = lgammaf(x);
    out[2 * n + i] = lgammaf(-x - 0.3f);
    out[3 * n + i] = j0f(x);
    out[4 * n + i] = j1f(x);
    out[5 * n + i] = jnf(2, x);
    out[6 * n + i] = y0f(x);
    out[7 * n + i] = y1f(x);
    out[8 * n + i] = ynf(3, x);
    out[9 * n + i] = cyl_bessel_i0f(x);
    out[10 * n + i] = cyl_bessel_i1f(x);
}

extern "C" void run(const float* xs, int64_t n, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, out, n);
}
