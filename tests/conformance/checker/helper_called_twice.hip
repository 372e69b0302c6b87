#include <hip/hip_runtime.h>

__device__ float at(const float* x, int64_t i) {
    return x[i];  // here
}
__global__ void sum(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    float here = at(x, i);
    float next = at(x, i + 1);
    out[i] = here + next;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    sum<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
