#include <hip/hip_runtime.h>

__global__ void weigh(const float* x, const float* by, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = x[i] * by[i % 3];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float values[] = {1, 2, 4}, *by;
    hipMalloc(&by, sizeof values);
    hipMemcpyAsync(by, values, sizeof values, hipMemcpyHostToDevice, stream);
    weigh<<<(n + 255) / 256, 256, 0, stream>>>(x, by, out, n);
    hipFree(by);
}
