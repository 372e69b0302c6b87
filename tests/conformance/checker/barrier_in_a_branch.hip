#include <hip/hip_runtime.h>

__global__ void half(const float* x, float* out) {
    if (threadIdx.x < 32) __syncthreads();  // here
    out[threadIdx.x] = x[threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    half<<<1, 64, 0, stream>>>(x, out);
}
