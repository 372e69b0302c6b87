#include <hip/hip_runtime.h>

#include <cstdint>

__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

extern "C" void run(const float* a, const float* b, int64_t a_0, int64_t b_0, float* out, hipStream_t stream) {
    add<<<(a_0 + 255) / 256, 256, 0, stream>>>(a, b, out, a_0);
}
