#include <hip/hip_runtime.h>

__global__ void twice(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* scratch;
    hipMalloc(&scratch, 512);
    twice<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
    hipFree(scratch);
    hipMemsetAsync(scratch, 0, 512, stream);
}
