#include <hip/hip_runtime.h>

__device__ float table[1000];
__global__ void fill(const float* x, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) table[i] = -x[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    fill<<<(n + 255) / 256, 256, 0, stream>>>(x, n);
    hipMemcpyFromSymbolAsync(out, HIP_SYMBOL(table), n * sizeof(float), 0, hipMemcpyDeviceToDevice, stream);
}
