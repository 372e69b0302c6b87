#include <hip/hip_runtime.h>

__global__ void averages(const int* x, const int* y, int* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    unsigned a = x[i], b = y[i];
    out[i] = __hadd(x[i], y[i]);
    out[n + i] = __rhadd(x[i], y[i]);
    out[2 * n + i] = __uhadd(a, b);
    out[3 * n + i] = __urhadd(a, b);
}

extern "C" void run(const int* x, const int* y, int64_t n, int64_t, int* out, hipStream_t stream) {
    averages<<<(n + 255) / 256, 256, 0, stream>>>(x, y, out, n);
}
