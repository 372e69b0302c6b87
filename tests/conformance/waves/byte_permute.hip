#include <hip/hip_runtime.h>
// v_perm_b32: selectors 0..3 are bytes of the second operand, 4..7 of the first, 8..11 signs, 12 is 0x00, 13 and up 0xff.
__global__ void permute(const unsigned* a, const unsigned* b, unsigned* out) {
    int lane = threadIdx.x;
    out[lane] = __builtin_amdgcn_perm(a[lane], b[lane], 0x04030201);
    out[64 + lane] = __builtin_amdgcn_perm(a[lane], b[lane], 0x0c0d0607);
    out[128 + lane] = __builtin_amdgcn_perm(a[lane], b[lane], 0x080a090b);
    out[192 + lane] = __byte_perm(a[lane], b[lane], 0x7520);
}

extern "C" void run(const unsigned* a, const unsigned* b, int64_t, int64_t, unsigned* out, hipStream_t stream) {
    permute<<<1, 64, 0, stream>>>(a, b, out);
}
