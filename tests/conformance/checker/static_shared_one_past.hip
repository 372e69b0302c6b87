#include <hip/hip_runtime.h>

__global__ void shift(const float* x, float* out) {
    __shared__ float tile[64];
    __shared__ float other[64];
    other[threadIdx.x] = 0;
    tile[threadIdx.x + 1] = x[threadIdx.x];  // here
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x] + other[threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    shift<<<1, 64, 0, stream>>>(x, out);
}
