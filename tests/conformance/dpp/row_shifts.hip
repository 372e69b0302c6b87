#include <hip/hip_runtime.h>
// Where nothing arrives stays the old value, or 0 with bound_ctrl.
__global__ void shift(const int* x, int* out) {
    int lane = threadIdx.x, mine = x[lane];
    out[lane] = __builtin_amdgcn_update_dpp(-1, mine, 0x103, 0xf, 0xf, false);       // row_shl:3 reads lane + 3
    out[64 + lane] = __builtin_amdgcn_update_dpp(-1, mine, 0x113, 0xf, 0xf, false);  // row_shr:3 reads lane - 3
    out[128 + lane] = __builtin_amdgcn_update_dpp(-1, mine, 0x11f, 0xf, 0xf, true);  // row_shr:15
    out[192 + lane] = __builtin_amdgcn_update_dpp(-1, mine, 0x125, 0xf, 0xf, true);  // row_ror:5
    out[256 + lane] = __builtin_amdgcn_mov_dpp(mine, 0x101, 0xf, 0xf, true);         // row_shl:1
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { shift<<<1, 64, 0, stream>>>(x, out); }
