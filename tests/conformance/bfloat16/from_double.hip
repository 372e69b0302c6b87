#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>

__global__ void narrow(const double* x, __bf16* cast, __hip_bfloat16* function, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    cast[i] = (__bf16)x[i];
    function[i] = __double2bfloat16(x[i]);
}

extern "C" void run_float64(const double* x, int64_t n, short* cast, short* function, hipStream_t stream) {
    narrow<<<1, 256, 0, stream>>>(x, (__bf16*)cast, (__hip_bfloat16*)function, n);
}
