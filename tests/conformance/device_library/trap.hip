#include <hip/hip_runtime.h>

__global__ void check(const float* x, float* out) {
    if (x[threadIdx.x] > 2) __builtin_trap();
    if (threadIdx.x == 5) abort();
    out[threadIdx.x] = x[threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    check<<<1, 256, 0, stream>>>(x, out);
}
