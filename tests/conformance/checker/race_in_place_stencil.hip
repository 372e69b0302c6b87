#include <hip/hip_runtime.h>

// Each reads its neighbour in the buffer that all write.
__global__ void blur(float* data, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i + 1 < n) data[i] = 0.5f * (data[i] + data[i + 1]);  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    hipMemcpyAsync(out, x, n * sizeof(float), hipMemcpyDeviceToDevice, stream);
    blur<<<(n + 255) / 256, 256, 0, stream>>>(out, n);
}
