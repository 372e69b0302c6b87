#include <hip/hip_runtime.h>

__global__ void copy(const float4* x, float4* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (4 * i <= n) out[i] = x[i];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    copy<<<1, 256, 0, stream>>>(reinterpret_cast<const float4*>(x), reinterpret_cast<float4*>(out), n);
}
