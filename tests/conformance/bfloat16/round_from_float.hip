#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>

__global__ void convert(const float* x, __hip_bfloat16* function, __bf16* cast, __hip_bfloat162* pairs, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    function[i] = __float2bfloat16(x[i]);
    cast[i] = (__bf16)x[i];
    if (i < n / 2) pairs[i] = __float22bfloat162_rn(reinterpret_cast<const float2*>(x)[i]);
}

extern "C" void run(const float* x, int64_t n, __hip_bfloat16* function, __bf16* cast, __hip_bfloat16* pairs, hipStream_t stream) {
    convert<<<(n + 255) / 256, 256, 0, stream>>>(x, function, cast, (__hip_bfloat162*)pairs, n);
}
