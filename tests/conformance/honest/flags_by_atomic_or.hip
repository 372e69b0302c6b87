#include <hip/hip_runtime.h>

__global__ void flags(const float* x, float* out) {
    __shared__ unsigned words[4];
    if (threadIdx.x < 4) words[threadIdx.x] = 0;
    __syncthreads();
    if (x[threadIdx.x] > 0) atomicOr(&words[threadIdx.x / 32], 1u << threadIdx.x % 32);
    __syncthreads();
    out[threadIdx.x] = words[threadIdx.x / 32] >> threadIdx.x % 32 & 1;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    flags<<<1, 128, 0, stream>>>(x, out);
}
