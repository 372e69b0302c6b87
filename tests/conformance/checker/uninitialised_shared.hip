#include <hip/hip_runtime.h>

__global__ void half(const float* x, float* out) {
    __shared__ float tile[128];
    if (threadIdx.x < 64) tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    half<<<1, 128, 0, stream>>>(x, out);
}
