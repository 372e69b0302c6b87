#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void convert(const float* x, __half* rn, __half* rz, __half* rd, __half* ru, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    rn[i] = __float2half_rn(x[i]);
    rz[i] = __float2half_rz(x[i]);
    rd[i] = __float2half_rd(x[i]);
    ru[i] = __float2half_ru(x[i]);
}

extern "C" void run(const float* x, int64_t n, __half* rn, __half* rz, __half* rd, __half* ru, hipStream_t stream) {
    convert<<<(n + 255) / 256, 256, 0, stream>>>(x, rn, rz, rd, ru, n);
}
