#include <hip/hip_runtime.h>

__device__ float total;
__global__ void reset() { total = 0; }
__global__ void sum(const float* x, int64_t n) {
    for (int64_t i = 0; i < n; i++) total += x[i];
}
__global__ void share(float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = total;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    reset<<<1, 1, 0, stream>>>();
    sum<<<1, 1, 0, stream>>>(x, n);
    share<<<(n + 255) / 256, 256, 0, stream>>>(out, n);
}
