#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void convert(const int* x, __half* rn, __half* rz, __half* rd, __half* ru, __half* wide, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    rn[i] = __int2half_rn(x[i]);
    rz[i] = __ushort2half_rn((unsigned short)x[i]);
    rd[i] = __short2half_rn((short)x[i]);
    ru[i] = __uint2half_rn((unsigned)x[i] & 0xffff);
    wide[i] = __ll2half_rn((long long)x[i]);
}

extern "C" void run(const int* x, int64_t n, __half* rn, __half* rz, __half* rd, __half* ru, __half* wide, hipStream_t stream) {
    convert<<<(n + 63) / 64, 64, 0, stream>>>(x, rn, rz, rd, ru, wide, n);
}
