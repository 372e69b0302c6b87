#include <hip/hip_runtime.h>

#include <vector>
__global__ void scale(const float* x, const float* factors, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = x[i] * factors[i % 4];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    std::vector<float> factors(4, 2.0f);
    scale<<<(n + 255) / 256, 256, 0, stream>>>(x, factors.data(), out, n);
}
