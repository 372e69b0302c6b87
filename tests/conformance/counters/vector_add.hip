#include <hip/hip_runtime.h>

__global__ void add(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i] + x[n + i];
}

extern "C" void run(const float* x, int64_t, int64_t n, float* out, hipStream_t stream) {
    add<<<n / 256, 256, 0, stream>>>(x, out, n);
}
