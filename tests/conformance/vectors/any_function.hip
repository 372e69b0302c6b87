#include <hip/hip_runtime.h>

// gfx950: any function of three bits, and its generator of random numbers.
__global__ void any(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    out[i] = __builtin_amdgcn_bitop3_b32(a[i], b[i], c[i], 0xe8);
    out[n + i] = __builtin_amdgcn_bitop3_b32(a[i], b[i], c[i], 0x96);
    out[2 * n + i] = __builtin_amdgcn_bitop3_b32(a[i], b[i], c[i], 0xf0);
    out[3 * n + i] = __builtin_amdgcn_prng_b32(a[i]);
}

extern "C" void run(const unsigned* a, const unsigned* b, const unsigned* c, int64_t n, int64_t, int64_t, unsigned* out, hipStream_t stream) {
    any<<<1, 256, 0, stream>>>(a, b, c, out, n);
}
