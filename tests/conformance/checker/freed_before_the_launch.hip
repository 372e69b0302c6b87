#include <hip/hip_runtime.h>

__global__ void copy(const float* scratch, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = scratch[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* scratch;
    hipMalloc(&scratch, n * sizeof(float));
    hipMemcpyAsync(scratch, x, n * sizeof(float), hipMemcpyDeviceToDevice, stream);
    hipFree(scratch);
    copy<<<(n + 255) / 256, 256, 0, stream>>>(scratch, out, n);
}
