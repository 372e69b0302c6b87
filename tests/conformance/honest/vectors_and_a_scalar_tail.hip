#include <hip/hip_runtime.h>

__global__ void doubled(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (4 * i + 4 <= n) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        reinterpret_cast<float4*>(out)[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
    } else {
        for (int64_t k = 4 * i; k < n; k++) out[k] = 2 * x[k];
    }
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    doubled<<<(n / 4 + 256) / 256, 256, 0, stream>>>(x, out, n);
}
