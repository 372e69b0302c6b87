#include <hip/hip_runtime.h>

__global__ void twice(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}
__global__ void large(const float* x, float* out) {
    extern __shared__ float tile[];
    tile[threadIdx.x * 64] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[(255 - threadIdx.x) * 64];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    hipFuncSetAttribute(reinterpret_cast<const void*>(large), hipFuncAttributeMaxDynamicSharedMemorySize, 65536);
    large<<<1, 256, 65536, stream>>>(x, out);
}
