#include <hip/hip_runtime.h>
// The builtin moves bits of any type of up to 64.
__global__ void moved(const float* f, const double* d, const long* l, float* of, double* od, long* ol) {
    int lane = threadIdx.x;
    of[lane] = __builtin_amdgcn_update_dpp(0.25f, f[lane], 0x101, 0xf, 0xf, false);
    od[lane] = __builtin_amdgcn_update_dpp(0.5, d[lane], 0x111, 0xf, 0xf, false);
    ol[lane] = __builtin_amdgcn_mov_dpp(l[lane], 0x141, 0xf, 0xf, false);
}

extern "C" void run(const float* f, const double* d, const long* l, int64_t, int64_t, int64_t, float* of, double* od, long* ol,
                    hipStream_t stream) {
    moved<<<1, 64, 0, stream>>>(f, d, l, of, od, ol);
}
