#include <hip/hip_runtime.h>

__global__ void values(const float* xs, const float* ys, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    float y = ys[i];
    out[i] = __expf(x);
    out[n + i] = __exp10f(x / 8);
    out[2 * n + i] = __logf(fabsf(x));
    out[3 * n + i] = __log2f(fabsf(x));
    out[4 * n + i] = __log10f(fabsf(x));
    out[5 * n + i] = __powf(fabsf(x), y);
    out[6 * n + i] = __fdividef(x, y);
    out[7 * n + i] = __frcp_rn(x);
    out[8 * n + i] = __frsqrt_rn(fabsf(x));
    out[9 * n + i] = __fsqrt_rn(fabsf(x));
    out[10 * n + i] = __saturatef(x);
    out[11 * n + i] = exp2f(x);
}

extern "C" void run(const float* xs, const float* ys, int64_t n, int64_t, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, ys, out, n);
}
