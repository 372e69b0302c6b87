#include <hip/hip_runtime.h>

__global__ void scatter(const float* x, float* out) {
    __shared__ float tile[64];
    tile[threadIdx.x * 100] = x[threadIdx.x];  // here
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    scatter<<<1, 64, 0, stream>>>(x, out);
}
