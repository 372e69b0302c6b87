#include <hip/hip_runtime.h>

__global__ void weigh(const float4* x, float* out, float4 by) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    float4 v = x[i];
    out[i] = v.x * by.x + v.y * by.y + v.z * by.z + v.w * by.w;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    weigh<<<1, n / 4, 0, stream>>>(reinterpret_cast<const float4*>(x), out, make_float4(1, 2, 4, 8));
}
