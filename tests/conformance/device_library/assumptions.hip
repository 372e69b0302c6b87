#include <hip/hip_runtime.h>

__global__ void assumed(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    __builtin_assume(n > 0);
    const float* aligned = static_cast<const float*>(__builtin_assume_aligned(x, 16));
    if (i < n) out[i] = aligned[i];
    if (i < 0) __builtin_unreachable();
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    assumed<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
