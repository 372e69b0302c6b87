#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

__global__ void decode(const __hip_fp8_e4m3* e4m3, const __hip_fp8_e5m2* e5m2, float* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    out[i] = float(e4m3[i]);
    out[n + i] = float(e5m2[i]);
    out[2 * n + i] = __builtin_amdgcn_cvt_f32_fp8((int)e4m3[i].__x, 0);
    out[3 * n + i] = __builtin_amdgcn_cvt_f32_bf8((int)e5m2[i].__x, 0);
}

extern "C" void run(const uint8_t* codes, int64_t n, float* out, hipStream_t stream) {
    decode<<<1, 256, 0, stream>>>((const __hip_fp8_e4m3*)codes, (const __hip_fp8_e5m2*)codes, out, n);
}
