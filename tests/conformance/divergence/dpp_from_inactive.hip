#include <hip/hip_runtime.h>
// A lane that is switched off counts like one beyond the row: the old value stays, or 0 with bound_ctrl.
__global__ void odd(const int* x, int* out) {
    int lane = threadIdx.x, mine = x[lane];
    out[lane] = out[64 + lane] = -1;
    if (lane % 4 != 1) {
        out[lane] = __builtin_amdgcn_update_dpp(7777, mine, 0x111, 0xf, 0xf, false);
        out[64 + lane] = __builtin_amdgcn_update_dpp(7777, mine, 0x111, 0xf, 0xf, true);
    }
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { odd<<<1, 64, 0, stream>>>(x, out); }
