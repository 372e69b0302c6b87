#include <hip/hip_runtime.h>

__global__ void clocks(const float* x, float* out) {
    unsigned long cycles = __builtin_readcyclecounter(), steady = __builtin_readsteadycounter(), wall = wall_clock64();
    __builtin_amdgcn_s_sleep(1);
    bool on = __builtin_readcyclecounter() > cycles && __builtin_readsteadycounter() > steady && wall_clock64() > wall;
    out[threadIdx.x] = on ? x[threadIdx.x] : 0;
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) { clocks<<<1, 64, 0, stream>>>(x, out); }
