#include <hip/hip_runtime.h>

__global__ void halves(const float* x, float* out) {
    if (threadIdx.x < 32) {
        out[threadIdx.x] = x[threadIdx.x];
        __syncthreads();  // here
    } else {
        out[threadIdx.x] = 0;
        __syncthreads();  // here
    }
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    halves<<<1, 64, 0, stream>>>(x, out);
}
