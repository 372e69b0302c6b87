#include <hip/hip_runtime.h>

// == asks whether all elements are equal, != whether any differs.
__global__ void equality(const float3* a, const float3* b, int* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i < n) out[i] = (a[i] == b[i]) | (a[i] != b[i]) << 1 | (a[i] == 1.0f) << 2;
}

extern "C" void run(const float* a, const float* b, int64_t n, int64_t, int* out, hipStream_t stream) {
    equality<<<1, 64, 0, stream>>>((const float3*)a, (const float3*)b, out, n / 3);
}
