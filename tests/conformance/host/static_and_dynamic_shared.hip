#include <hip/hip_runtime.h>

__global__ void copy(const float* x, float* out) {
    extern __shared__ float given[];
    __shared__ float own[8000];
    given[threadIdx.x] = own[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = given[255 - threadIdx.x] + own[255 - threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) { copy<<<1, 256, 40000, stream>>>(x, out); }
