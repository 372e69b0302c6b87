#include <hip/hip_runtime.h>

__global__ void twice(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    hipDeviceProp_t properties;
    int device, units;
    hipGetDevice(&device);
    hipGetDeviceProperties(&properties, device);
    hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device);
    int block = properties.warpSize == 64 && units == properties.multiProcessorCount ? 256 : 0;
    twice<<<(n + block - 1) / block, block, 0, stream>>>(x, out, n);
}
