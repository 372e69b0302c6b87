#include <hip/hip_runtime.h>

__global__ void sum(const float* x, float* out, int64_t n) {
    float total = 0;
    for (int64_t i = 0; i < n; i++) total += x[i];
    *out = total;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    sum<<<1, 1, 0, stream>>>(x, out, n);
}
