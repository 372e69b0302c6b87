#include <hip/hip_runtime.h>

__global__ void marks(const float* x, unsigned char* scratch, int64_t n) {
    // Blocks of 61 threads: words at their borders belong to two blocks.
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) scratch[i] = x[i] > 0;
    if (i < n) scratch[i] += 2;
}
__global__ void unmark(const unsigned char* scratch, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = scratch[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    unsigned char* scratch;
    hipMalloc(&scratch, n);
    marks<<<(n + 60) / 61, 61, 0, stream>>>(x, scratch, n);
    unmark<<<(n + 255) / 256, 256, 0, stream>>>(scratch, out, n);
    hipFree(scratch);
}
