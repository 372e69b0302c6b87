#include <hip/hip_runtime.h>

__global__ void each(const int* x, int* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = x[i] / 7 * 1000 + x[i] % 7;
}

extern "C" void run(const int* x, int64_t n, int* out, hipStream_t stream) {
    each<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
