#include <hip/hip_runtime.h>
// By one lane, through all of the wave.
__global__ void shift(const int* x, int* out) {
    int lane = threadIdx.x, mine = x[lane];
    out[lane] = __builtin_amdgcn_update_dpp(-1, mine, 0x130, 0xf, 0xf, false);       // wave_shl:1
    out[64 + lane] = __builtin_amdgcn_update_dpp(-1, mine, 0x134, 0xf, 0xf, false);  // wave_rol:1
    out[128 + lane] = __builtin_amdgcn_update_dpp(-1, mine, 0x138, 0xf, 0xf, true);  // wave_shr:1
    out[192 + lane] = __builtin_amdgcn_update_dpp(-1, mine, 0x13c, 0xf, 0xf, true);  // wave_ror:1
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { shift<<<1, 64, 0, stream>>>(x, out); }
