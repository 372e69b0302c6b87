#include <hip/hip_runtime.h>

__global__ void copy(const float* x, float* scratch, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) scratch[i] = x[i];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* scratch;
    hipMalloc(&scratch, (n - 1) * sizeof(float));
    copy<<<(n + 255) / 256, 256, 0, stream>>>(x, scratch, n);
    hipFree(scratch);
    copy<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
