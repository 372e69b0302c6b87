#include <hip/hip_runtime.h>

__device__ int calls = 10;
__global__ void count(float* out) {
    calls += 1;
    *out = calls;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    count<<<1, 1, 0, stream>>>(out);
}
