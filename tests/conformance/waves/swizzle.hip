#include <hip/hip_runtime.h>
// Within 32 lanes, lane = ((lane & and) | or) ^ xor; or four lanes after a table; or rotation.
__global__ void swizzle(const int* x, int* out) {
    int lane = threadIdx.x, mine = x[lane];
    out[lane] = __builtin_amdgcn_ds_swizzle(mine, 0x1f | 31 << 10);            // reversed
    out[64 + lane] = __builtin_amdgcn_ds_swizzle(mine, 0x18 | 5 << 5);         // lane 5 of each eight
    out[128 + lane] = __builtin_amdgcn_ds_swizzle(mine, 0x1f | 16 << 10);      // rows of 16 change places
    out[192 + lane] = __builtin_amdgcn_ds_swizzle(mine, 0x8000 | 0b00011011);  // four lanes reversed
    out[256 + lane] = __builtin_amdgcn_ds_swizzle(mine, 0xc000 | 3 << 5);      // rotated: from the lane 3 above
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { swizzle<<<1, 64, 0, stream>>>(x, out); }
