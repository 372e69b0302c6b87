#include <hip/hip_runtime.h>
// A row, or a bank of four lanes in each row, that is masked out keeps the old value, whatever bound_ctrl says.
__global__ void masked(const int* x, int* out) {
    int lane = threadIdx.x, mine = x[lane];
    out[lane] = __builtin_amdgcn_update_dpp(7000 + lane, mine, 0x111, 0b1010, 0xf, false);
    out[64 + lane] = __builtin_amdgcn_update_dpp(7000 + lane, mine, 0x111, 0xf, 0b0110, true);
    out[128 + lane] = __builtin_amdgcn_update_dpp(7000 + lane, mine, 0x121, 0b0011, 0b1000, true);
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { masked<<<1, 64, 0, stream>>>(x, out); }
