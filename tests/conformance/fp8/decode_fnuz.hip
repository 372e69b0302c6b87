#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

__global__ void decode(const __hip_fp8_e4m3_fnuz* e4m3, const __hip_fp8_e5m2_fnuz* e5m2, float* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    out[i] = float(e4m3[i]);
    out[n + i] = float(e5m2[i]);
}

extern "C" void run(const uint8_t* codes, int64_t n, float* out, hipStream_t stream) {
    decode<<<1, 256, 0, stream>>>((const __hip_fp8_e4m3_fnuz*)codes, (const __hip_fp8_e5m2_fnuz*)codes, out, n);
}
