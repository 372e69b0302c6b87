#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

__global__ void unpack(const __hip_fp8x2_e4m3_fnuz* two, const __hip_fp8x4_e5m2_fnuz* four, float2* out2, float4* out4, int64_t n) {
    int64_t i = threadIdx.x;
    if (i < n / 2) out2[i] = float2(two[i]);
    if (i < n / 4) out4[i] = float4(four[i]);
}

__global__ void pack(const float2* x, __hip_fp8x2_e4m3_fnuz* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i < n / 2) out[i] = __hip_fp8x2_e4m3_fnuz(x[i]);
}

extern "C" void run(const uint8_t* codes, int64_t n, float* out2, float* out4, uint8_t* again, hipStream_t stream) {
    unpack<<<1, 128, 0, stream>>>((const __hip_fp8x2_e4m3_fnuz*)codes, (const __hip_fp8x4_e5m2_fnuz*)codes, (float2*)out2, (float4*)out4, n);
    pack<<<1, 128, 0, stream>>>((const float2*)out2, (__hip_fp8x2_e4m3_fnuz*)again, n);
}
