#include <hip/hip_runtime.h>

__global__ void values(const float* xs, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    out[i] = __sinf(x);
    out[n + i] = __cosf(x);
    out[2 * n + i] = __builtin_amdgcn_sinf(x);
    out[3 * n + i] = __builtin_amdgcn_cosf(x);
}

extern "C" void run(const float* xs, int64_t n, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, out, n);
}
