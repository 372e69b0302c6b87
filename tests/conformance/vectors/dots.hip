#include <hip/hip_runtime.h>

typedef short short2_t __attribute__((ext_vector_type(2)));
typedef unsigned short ushort2_t __attribute__((ext_vector_type(2)));

__global__ void dots(const int* a, const int* b, const int* c, int* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    out[i] = __builtin_amdgcn_sdot4(a[i], b[i], c[i], false);
    out[n + i] = (int)__builtin_amdgcn_udot4((unsigned)a[i], (unsigned)b[i], (unsigned)c[i], false);
    out[2 * n + i] = __builtin_amdgcn_sdot2(__builtin_bit_cast(short2_t, a[i]), __builtin_bit_cast(short2_t, b[i]), c[i], false);
    out[3 * n + i] = (int)__builtin_amdgcn_udot2(__builtin_bit_cast(ushort2_t, a[i]), __builtin_bit_cast(ushort2_t, b[i]), 7, false);
    out[4 * n + i] = __builtin_amdgcn_sdot8(a[i], b[i], c[i], false);
    out[5 * n + i] = (int)__builtin_amdgcn_udot8((unsigned)a[i], (unsigned)b[i], 7, false);
    out[6 * n + i] = __builtin_amdgcn_sdot4(a[i], b[i], 0x7fffffff, true);
    out[7 * n + i] = (int)__builtin_amdgcn_udot4((unsigned)a[i], (unsigned)b[i], 0xffffffff, true);
}

extern "C" void run(const int* a, const int* b, const int* c, int64_t n, int64_t, int64_t, int* out, hipStream_t stream) {
    dots<<<1, 256, 0, stream>>>(a, b, c, out, n);
}
