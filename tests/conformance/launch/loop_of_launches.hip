#include <hip/hip_runtime.h>

__global__ void add(const float* x, float* out, int64_t n, int k) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = (k ? out[i] : 0) + x[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    for (int k = 0; k < 5; k++) add<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n, k);
}
