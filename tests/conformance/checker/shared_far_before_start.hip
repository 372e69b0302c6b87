#include <hip/hip_runtime.h>

__global__ void neighbours(const float* x, float* out) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[int(threadIdx.x) - 1000];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    neighbours<<<1, 64, 0, stream>>>(x, out);
}
