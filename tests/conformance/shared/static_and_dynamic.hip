#include <hip/hip_runtime.h>

__global__ void add(const float* x, float* out) {
    __shared__ float one[64];
    extern __shared__ float other[];
    int i = blockIdx.x * 64 + threadIdx.x;
    one[threadIdx.x] = x[i];
    other[threadIdx.x] = -2 * x[i];
    __syncthreads();
    out[i] = one[63 - threadIdx.x] + other[63 - threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    add<<<n / 64, 64, 256, stream>>>(x, out);
}
