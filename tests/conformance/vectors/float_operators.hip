#include <hip/hip_runtime.h>

__global__ void operators(const float4* a, const float4* b, float4* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    float4 x = a[i], y = b[i], z = x;
    z += y;
    z *= 2.0f;
    z -= make_float4(1, 2, 3, 4);
    z /= y;
    out[i] = z;
    out[n + i] = x * y - x / y;
    out[2 * n + i] = -x + 1.5f;
    out[3 * n + i] = 2.0f * x;
    out[4 * n + i] = float4(0.25f) - y;
}

extern "C" void run(const float* a, const float* b, int64_t n, int64_t, float* out, hipStream_t stream) {
    operators<<<1, 64, 0, stream>>>((const float4*)a, (const float4*)b, (float4*)out, n / 4);
}
