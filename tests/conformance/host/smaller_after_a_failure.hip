#include <hip/hip_runtime.h>

__global__ void twice(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    twice<<<0, 256, 0, stream>>>(x, out, n);
    if (hipGetLastError() != hipErrorInvalidConfiguration || hipGetLastError() != hipSuccess) return;
    for (int threads = 2048; threads >= 256; threads /= 2) {
        twice<<<(n + threads - 1) / threads, threads, 0, stream>>>(x, out, n);
        if (hipGetLastError() == hipSuccess) break;
    }
}
