#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

__global__ void encode(const float* x, __hip_fp8_e4m3* e4m3, __hip_fp8_e5m2* e5m2, uint8_t* raw4, uint8_t* raw5, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    e4m3[i] = __hip_fp8_e4m3(x[i]);
    e5m2[i] = __hip_fp8_e5m2(x[i]);
    raw4[i] = (uint8_t)__builtin_amdgcn_cvt_pk_fp8_f32(x[i], x[i], 0, false);
    raw5[i] = (uint8_t)__builtin_amdgcn_cvt_pk_bf8_f32(x[i], x[i], 0, false);
}

extern "C" void run(const float* x, int64_t n, uint8_t* e4m3, uint8_t* e5m2, uint8_t* raw4, uint8_t* raw5, hipStream_t stream) {
    encode<<<(n + 255) / 256, 256, 0, stream>>>(x, (__hip_fp8_e4m3*)e4m3, (__hip_fp8_e5m2*)e5m2, raw4, raw5, n);
}
