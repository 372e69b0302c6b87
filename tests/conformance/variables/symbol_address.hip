#include <hip/hip_runtime.h>

__device__ float table[1024];
__global__ void fill(const float* x, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) table[n - 1 - i] = x[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float* at;
    hipGetSymbolAddress(reinterpret_cast<void**>(&at), HIP_SYMBOL(table));
    fill<<<(n + 255) / 256, 256, 0, stream>>>(x, n);
    hipMemcpyAsync(out, at, n * sizeof(float), hipMemcpyDeviceToDevice, stream);
}
