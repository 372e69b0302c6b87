#include <hip/hip_runtime.h>

__global__ void values(const float* xs, const float* ys, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    float y = ys[i];
    out[i] = sinhf(x);
    out[n + i] = coshf(x);
    out[2 * n + i] = tanhf(x);
    out[3 * n + i] = asinhf(x);
    out[4 * n + i] = acoshf(1 + fabsf(x));
    out[5 * n + i] = atanhf(y);
}

extern "C" void run(const float* xs, const float* ys, int64_t n, int64_t, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, ys, out, n);
}
