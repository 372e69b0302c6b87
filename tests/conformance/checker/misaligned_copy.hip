#include <hip/hip_runtime.h>

__global__ void copy(const float4* x, float4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    copy<<<4, 64, 0, stream>>>(reinterpret_cast<const float4*>(x + 1), reinterpret_cast<float4*>(out), n / 4 - 1);
}
