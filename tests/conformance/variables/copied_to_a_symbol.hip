#include <hip/hip_runtime.h>

__constant__ float weights[4];
__global__ void weigh(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = x[i] * weights[i % 4];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float values[] = {1, 0.5f, 0.25f, 2};
    hipMemcpyToSymbol(HIP_SYMBOL(weights), values, sizeof values);
    weigh<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
