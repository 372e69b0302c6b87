#include <hip/hip_runtime.h>

__global__ void doubled(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (4 * i >= n) return;
    float4 v = make_float4(x[4 * i], 0, 0, 0);
    reinterpret_cast<float4*>(out)[i] = v;  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    doubled<<<(n / 4 + 256) / 256, 256, 0, stream>>>(x, out, n);
}
