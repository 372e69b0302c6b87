#include <hip/hip_runtime.h>

__global__ void doubled(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    doubled<<<(n + 255) / 256 + 1, 256, 0, stream>>>(x + n, out + n, 0);
    hipMemsetAsync(out + n, 0, 0, stream);
    hipMemcpyAsync(out + n, x + n, 0, hipMemcpyDeviceToDevice, stream);
    doubled<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
