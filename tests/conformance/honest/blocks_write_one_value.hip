#include <hip/hip_runtime.h>

__global__ void any_above(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n && x[i] > 0.5f) out[0] = 1;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    hipMemsetAsync(out, 0, sizeof(float), stream);
    any_above<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
