#include <hip/hip_runtime.h>

__global__ void add(const float* x, const float* scratch, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = x[i] + scratch[i];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* scratch;
    hipMalloc(&scratch, n * sizeof(float));
    add<<<(n + 255) / 256, 256, 0, stream>>>(x, scratch, out, n);
    hipFree(scratch);
}
