#include <hip/hip_runtime.h>

// The same buffer by two pointers that promise to differ: each thread reads before it writes what is its own.
__global__ void scale(const float* __restrict__ x, float* __restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 2 + 1;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    scale<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
    scale<<<(n + 255) / 256, 256, 0, stream>>>(out, out, n);
}
