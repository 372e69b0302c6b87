#include <hip/hip_runtime.h>

__global__ void shorts(const short2* a, const ushort4* b, short2* out, ushort4* shifted, int64_t n) {
    int64_t i = threadIdx.x;
    if (i < n) out[i] = a[i] * short2(3, -3) + short2(1, 2);
    if (i < n / 2) shifted[i] = b[i] << ushort4(1, 2, 3, 4);
}

extern "C" void run(const short* a, const short* b, int64_t n, int64_t, short* out, short* shifted, hipStream_t stream) {
    shorts<<<1, 64, 0, stream>>>((const short2*)a, (const ushort4*)b, (short2*)out, (ushort4*)shifted, n / 2);
}
