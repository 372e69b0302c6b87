#include <hip/hip_runtime.h>

__global__ void convert(const int64_t* x, float* out, double* doubles, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    int word = (int)(x[i] >> 20);
    out[i] = __int2float_rn(word);
    out[n + i] = __int2float_rz(word);
    out[2 * n + i] = __int2float_rd(word);
    out[3 * n + i] = __int2float_ru(word);
    out[4 * n + i] = __uint2float_rn((unsigned)word);
    out[5 * n + i] = __ll2float_rn(x[i]);
    out[6 * n + i] = __ll2float_ru(x[i]);
    out[7 * n + i] = __ull2float_rz((unsigned long long)x[i]);
    doubles[i] = __ll2double_rn(x[i]);
    doubles[n + i] = __ll2double_rd(x[i]);
    doubles[2 * n + i] = __uint2double_rn((unsigned)word);
}

extern "C" void run(const int64_t* x, int64_t n, float* out, double* doubles, hipStream_t stream) {
    convert<<<1, 256, 0, stream>>>(x, out, doubles, n);
}
