#include <hip/hip_runtime.h>

__device__ float negate(float v) { return -v; }
__device__ float half(float v) { return v / 2; }
__global__ void apply(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    float (*chosen)(float) = i % 2 ? negate : half;
    if (i < n) out[i] = chosen(x[i]);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    apply<<<(n + 255) / 256, 256, 0, stream>>>(x, out, n);
}
