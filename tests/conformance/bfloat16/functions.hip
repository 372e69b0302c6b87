#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>

__global__ void functions(const __hip_bfloat16* x, __hip_bfloat16* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    __hip_bfloat16 h = x[i];
    __hip_bfloat16 results[] = {hexp(h), hexp2(h), hlog(h), hlog2(h), hsqrt(h), hrsqrt(h), hrcp(h), hsin(h), hcos(h), hfloor(h), hceil(h), hrint(h), htrunc(h)};
    for (int k = 0; k < 13; k++) out[k * n + i] = results[k];
    __hip_bfloat162 pair = h2exp(__hip_bfloat162(h, h));
    out[13 * n + i] = pair.y;
}

extern "C" void run(const short* x, int64_t n, short* out, hipStream_t stream) {
    functions<<<1, 256, 0, stream>>>((const __hip_bfloat16*)x, (__hip_bfloat16*)out, n);
}
