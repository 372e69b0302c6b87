#include <hip/hip_runtime.h>

__global__ void values(const float* xs, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    out[i] = roundf(x);
    out[n + i] = rintf(x);
    out[2 * n + i] = nearbyintf(x);
    out[3 * n + i] = truncf(x);
    out[4 * n + i] = floorf(x);
    out[5 * n + i] = ceilf(x);
    out[6 * n + i] = (float)lrintf(x);
    out[7 * n + i] = (float)lroundf(x);
    out[8 * n + i] = (float)llrintf(x);
    out[9 * n + i] = (float)llroundf(x);
}

extern "C" void run(const float* xs, int64_t n, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, out, n);
}
