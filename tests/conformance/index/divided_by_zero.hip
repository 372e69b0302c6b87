#include <hip/hip_runtime.h>

__global__ void each(const unsigned* x, unsigned* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = x[i] / (x[i] - x[i / 2 * 2]);
}

extern "C" void run(const unsigned* x, int64_t n, unsigned* out, hipStream_t stream) {
    each<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
