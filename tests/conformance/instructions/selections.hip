#include <hip/hip_runtime.h>

__global__ void values(const float* xs, const float* ys, const float* zs, float* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = xs[i];
    float y = ys[i];
    float z = zs[i];
    out[i] = __builtin_amdgcn_fmed3f(x, y, z);
    out[n + i] = __builtin_amdgcn_fractf(x);
    out[2 * n + i] = __builtin_amdgcn_frexp_mantf(x);
    out[3 * n + i] = (float)__builtin_amdgcn_frexp_expf(x);
    out[4 * n + i] = __builtin_amdgcn_ldexpf(x, 5);
    out[5 * n + i] = fmaxf(fminf(x, y), z);
    out[6 * n + i] = (float)__builtin_amdgcn_classf(x, 0x264);
}

extern "C" void run(const float* xs, const float* ys, const float* zs, int64_t n, int64_t, int64_t, float* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, ys, zs, out, n);
}
