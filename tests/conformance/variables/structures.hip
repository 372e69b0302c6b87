#include <hip/hip_runtime.h>

struct Config {
    float scale;
    int shift;
    float bias[2];
};
__constant__ Config config = {2, 1, {0.5f, -0.5f}};
__global__ void apply(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = x[(i + config.shift) % n] * config.scale + config.bias[i % 2];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    apply<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
