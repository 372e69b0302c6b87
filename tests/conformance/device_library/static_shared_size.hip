#include <hip/hip_runtime.h>

__global__ void k(const float* x, float* out) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    out[threadIdx.x] = s[threadIdx.x] + __builtin_amdgcn_groupstaticsize();
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) { k<<<1, 64, 0, stream>>>(x, out); }
