#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>

__global__ void all(const __hip_bfloat16* a, const __hip_bfloat16* b, __hip_bfloat16* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __hip_bfloat16 sum = a[i];
    sum += b[i];
    out[i] = sum;
    out[n + i] = __hsub(a[i], b[i]);
    out[2 * n + i] = a[i] * b[i];
    out[3 * n + i] = __hdiv(a[i], b[i]);
    out[4 * n + i] = -__habs(a[i]);
    out[5 * n + i] = __hfma(a[i], b[i], a[i]);
}

extern "C" void run(const short* a, const short* b, int64_t n, int64_t, short* out, hipStream_t stream) {
    all<<<(n + 255) / 256, 256, 0, stream>>>((const __hip_bfloat16*)a, (const __hip_bfloat16*)b, (__hip_bfloat16*)out, n);
}
