#include <hip/hip_runtime.h>
__global__ void read(const int* x, int* out, int uniform) {
    int lane = threadIdx.x;
    out[lane] = __builtin_amdgcn_readlane(x[lane], 37);
    out[64 + lane] = __builtin_amdgcn_readlane(x[lane], uniform);
    out[128 + lane] = __builtin_amdgcn_readfirstlane(x[lane]);
}

extern "C" void run(const int* x, int64_t uniform, int64_t, int* out, hipStream_t stream) {
    read<<<1, 64, 0, stream>>>(x, out, uniform);
}
