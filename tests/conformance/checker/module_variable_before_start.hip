#include <hip/hip_runtime.h>

__device__ float table[64];
__global__ void fill(const float* x) { table[threadIdx.x] = x[threadIdx.x]; }
__global__ void take(float* out) {
    out[threadIdx.x] = table[int(threadIdx.x) - 2];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    fill<<<1, 64, 0, stream>>>(x);
    take<<<1, 64, 0, stream>>>(out);
}
