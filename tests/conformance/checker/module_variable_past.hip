#include <hip/hip_runtime.h>

__device__ float table[32];
__global__ void fill(const float* x, float* out) {
    table[threadIdx.x] = x[threadIdx.x];  // here
    out[threadIdx.x] = table[threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    fill<<<1, 64, 0, stream>>>(x, out);
}
