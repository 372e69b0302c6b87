#include <hip/hip_runtime.h>

__global__ void values(const float* xs, const float* ys, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    float y = ys[i];
    out[i] = erff(x);
    out[n + i] = erfcf(x);
    out[2 * n + i] = erfinvf(y);
    out[3 * n + i] = erfcinvf(1 + y);
    out[4 * n + i] = erfcxf(x);
    out[5 * n + i] = normcdff(x);
    out[6 * n + i] = normcdfinvf(0.5f + y / 2);
}

extern "C" void run(const float* xs, const float* ys, int64_t n, int64_t, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, ys, out, n);
}
