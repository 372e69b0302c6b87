#include <hip/hip_runtime.h>

__global__ void chain(const float* x, float* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = x[i];  // here
    if (i >= 64) out[i] += out[i - 64];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    chain<<<8, 64, 0, stream>>>(x, out);
}
