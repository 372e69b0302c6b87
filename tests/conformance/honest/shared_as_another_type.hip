#include <hip/hip_runtime.h>

union Scratch {
    float values[128];
    unsigned char marks[512];
};
__global__ void marked(const float* x, float* out) {
    __shared__ Scratch scratch;
    scratch.values[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float other = scratch.values[threadIdx.x ^ 64];
    __syncthreads();
    scratch.marks[threadIdx.x] = other > 0;
    __syncthreads();
    out[threadIdx.x] = scratch.marks[127 - threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    marked<<<1, 128, 0, stream>>>(x, out);
}
