#include <hip/hip_runtime.h>

__global__ void k(const float* x, float* out) {
    out[threadIdx.x] = x[0] + __builtin_amdgcn_s_getreg(0x1804);
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) { k<<<1, 64, 0, stream>>>(x, out); }
