#include <hip/hip_runtime.h>

__global__ void count(float* out, int64_t n) {
    atomicAdd(&out[n + threadIdx.x], 1.0f);  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    count<<<1, 1, 0, stream>>>(out, n);
}
