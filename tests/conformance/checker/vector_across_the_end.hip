#include <hip/hip_runtime.h>

__global__ void tail(const float* x, float* out, int64_t n) {
    if (threadIdx.x == 0) {
        float4 last;
        __builtin_memcpy(&last, x + n - 2, sizeof last);  // here
        out[0] = last.x;
    }
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    tail<<<1, 64, 0, stream>>>(x, out, n);
}
