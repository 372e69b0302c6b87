#include <hip/hip_runtime.h>

__global__ void bytes(const unsigned* a, const unsigned* b, unsigned* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    out[i] = __builtin_amdgcn_perm(a[i], b[i], 0x07000c0d);
    out[n + i] = __builtin_amdgcn_alignbit(a[i], b[i], 9);
    out[2 * n + i] = __builtin_amdgcn_alignbyte(a[i], b[i], 3);
    out[3 * n + i] = __byte_perm(a[i], b[i], 0x6240);
    out[4 * n + i] = __builtin_amdgcn_sad_u8(a[i], b[i], 10);
    out[5 * n + i] = __builtin_amdgcn_sad_u16(a[i], b[i], 10);
    out[6 * n + i] = __builtin_amdgcn_sad_hi_u8(a[i], b[i], 10);
    out[7 * n + i] = __builtin_amdgcn_msad_u8(a[i], b[i], 10);
    out[8 * n + i] = __builtin_amdgcn_lerp(a[i], b[i], 0x01010101);
    out[9 * n + i] = __builtin_amdgcn_ubfe(a[i], 5, 11);
    out[10 * n + i] = __builtin_amdgcn_sbfe(a[i], 5, 11);
    out[11 * n + i] = __builtin_amdgcn_perm(a[i], b[i], 0x0b0a0908);
}

extern "C" void run(const unsigned* a, const unsigned* b, int64_t n, int64_t, unsigned* out, hipStream_t stream) {
    bytes<<<1, 256, 0, stream>>>(a, b, out, n);
}
