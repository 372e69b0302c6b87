#include <hip/hip_runtime.h>

__global__ void values(const float* xs, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    out[i] = (float)__builtin_amdgcn_fracth((_Float16)x);
    out[n + i] = (float)__builtin_amdgcn_ldexph((_Float16)x, 3);
    out[2 * n + i] = (float)__builtin_amdgcn_frexp_manth((_Float16)x);
    out[3 * n + i] = (float)__builtin_amdgcn_frexp_exph((_Float16)x);
    out[4 * n + i] = (float)__builtin_amdgcn_rcph((_Float16)x);
    out[5 * n + i] = (float)__builtin_amdgcn_sqrth((_Float16)(x * x));
    out[6 * n + i] = (float)__builtin_amdgcn_fmed3h((_Float16)x, (_Float16)1, (_Float16)-1);
}

extern "C" void run(const float* xs, int64_t n, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, out, n);
}
