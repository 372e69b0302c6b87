#include <hip/hip_runtime.h>

__global__ void wait(const float* x, float* out) {
    long long start = clock64();
    unsigned long long wall = wall_clock64();
    float v = x[threadIdx.x];
    bool later = clock64() > start && wall_clock64() >= wall && __builtin_readcyclecounter() > 0;
    out[threadIdx.x] = later ? v : -100;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    wait<<<1, 256, 0, stream>>>(x, out);
}
