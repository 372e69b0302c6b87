#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>

__global__ void packed(const __hip_bfloat162* a, const __hip_bfloat162* b, __hip_bfloat162* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    __hip_bfloat162 results[] = {
        __hadd2(a[i], b[i]), __hmul2(a[i], b[i]), __hfma2(a[i], b[i], b[i]), __hneg2(a[i]), __h2div(a[i], b[i]),
        __lowhigh2highlow(a[i]), __lows2bfloat162(a[i], b[i]), __highs2bfloat162(a[i], b[i]),
        __halves2bfloat162(__high2bfloat16(b[i]), __low2bfloat16(a[i])), __bfloat162bfloat162(a[i].y), __hmax2(a[i], b[i]),
    };
    for (int k = 0; k < 11; k++) out[k * n + i] = results[k];
}

extern "C" void run(const short* a, const short* b, int64_t n, int64_t, short* out, hipStream_t stream) {
    packed<<<1, 256, 0, stream>>>((const __hip_bfloat162*)a, (const __hip_bfloat162*)b, (__hip_bfloat162*)out, n / 2);
}
