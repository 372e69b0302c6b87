#include <hip/hip_runtime.h>

__global__ void through_memory(const float* x, float* scratch, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    scratch[i] = x[i] + 1;
    scratch[i] = scratch[i] * 2;
    out[i] = scratch[i] + scratch[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* scratch;
    hipMalloc(&scratch, n * sizeof(float));
    through_memory<<<(n + 255) / 256, 256, 0, stream>>>(x, scratch, out, n);
    hipFree(scratch);
}
