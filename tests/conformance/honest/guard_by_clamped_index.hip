#include <hip/hip_runtime.h>

__global__ void smooth(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    float here = x[min(i, n - 1)], next = x[min(i + 1, n - 1)];
    if (i < n) out[i] = here + next;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    smooth<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
