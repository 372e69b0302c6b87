#include <hip/hip_runtime.h>

__global__ void two(const float* x, float* out) {
    __shared__ float first[64], second[64];
    first[threadIdx.x] = x[threadIdx.x];
    second[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = first[threadIdx.x + 64] + second[threadIdx.x];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    two<<<1, 64, 0, stream>>>(x, out);
}
