#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>

__global__ void widen(const __hip_bfloat16* x, float* one, float2* two, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) one[i] = __bfloat162float(x[i]);
    if (i < n / 2) two[i] = __bfloat1622float2(reinterpret_cast<const __hip_bfloat162*>(x)[i]);
}

extern "C" void run(const short* x, int64_t n, float* one, float* two, hipStream_t stream) {
    widen<<<n / 256, 256, 0, stream>>>((const __hip_bfloat16*)x, one, (float2*)two, n);
}
