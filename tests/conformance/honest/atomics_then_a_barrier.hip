#include <hip/hip_runtime.h>

__global__ void ranks(const float* x, float* out) {
    __shared__ int low, high;
    if (threadIdx.x == 0) low = high = 0;
    __syncthreads();
    atomicAdd(x[threadIdx.x] < 0 ? &low : &high, 1);
    __syncthreads();
    if (threadIdx.x == 5) low = low * 1000 + high;
    __syncthreads();
    out[threadIdx.x] = low;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    ranks<<<1, 128, 0, stream>>>(x, out);
}
