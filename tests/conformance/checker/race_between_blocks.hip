#include <hip/hip_runtime.h>

__global__ void last(const float* x, float* out) {
    if (threadIdx.x == 0) out[0] = x[blockIdx.x];  // here
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    last<<<8, 64, 0, stream>>>(x, out);
}
