#include <hip/hip_runtime.h>

__global__ void any_above(const float* x, float* out) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (x[blockIdx.x * 256 + threadIdx.x] > 0.9f) found = 1;
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = found;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    any_above<<<n / 256, 256, 0, stream>>>(x, out);
}
