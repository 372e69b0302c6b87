#include <hip/hip_runtime.h>

// Each thread owns two elements, far apart.
__global__ void reverse(float* data, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n / 2) return;
    float kept = data[i];
    data[i] = data[n - 1 - i];
    data[n - 1 - i] = kept;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    hipMemcpyAsync(out, x, n * sizeof(float), hipMemcpyDeviceToDevice, stream);
    reverse<<<(n / 2 + 255) / 256, 256, 0, stream>>>(out, n);
}
