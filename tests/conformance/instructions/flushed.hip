#include <hip/hip_runtime.h>

// What subnormal numbers become in instructions that approximate: they are zero, as arguments and as results.
__global__ void values(const float* xs, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    out[i] = __builtin_amdgcn_rcpf(x);
    out[n + i] = __builtin_amdgcn_rsqf(x);
    out[2 * n + i] = __builtin_amdgcn_sqrtf(x);
    out[3 * n + i] = __builtin_amdgcn_logf(x);
    out[4 * n + i] = __builtin_amdgcn_exp2f(-x);
    out[5 * n + i] = __builtin_amdgcn_ldexpf(x, -20);
}

extern "C" void run(const float* xs, int64_t n, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, out, n);
}
