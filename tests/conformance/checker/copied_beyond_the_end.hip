#include <hip/hip_runtime.h>

__global__ void copy(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = x[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* scratch;
    hipMalloc(&scratch, n * sizeof(float));
    hipMemcpyAsync(scratch, x, (n + 1) * sizeof(float), hipMemcpyDeviceToDevice, stream);
    copy<<<(n + 255) / 256, 256, 0, stream>>>(scratch, out, n);
    hipFree(scratch);
}
