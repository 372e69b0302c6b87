#include <hip/hip_runtime.h>

__device__ float total;
__global__ void sum(const float* x, float* out) {
    if (threadIdx.x == 0) total = total + x[blockIdx.x];  // here
    out[blockIdx.x * 64 + threadIdx.x] = 0;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    sum<<<n / 64, 64, 0, stream>>>(x, out);
}
