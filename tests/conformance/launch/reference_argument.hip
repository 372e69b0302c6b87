#include <hip/hip_runtime.h>

__global__ void scale(const float* x, float* out, const float& factor) { out[threadIdx.x] = x[threadIdx.x] * factor; }

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float factor = 2;
    scale<<<1, 64, 0, stream>>>(x, out, factor);
}
