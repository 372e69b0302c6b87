#include "layout.h"

// Since gfx942 the last number negates A, B and C of a double-precision product.
template <int kSigns>
__global__ void signs(const double* a, const double* b, const double* c, double* d) {
    int lane = threadIdx.x, i = lane % 4, block = lane / 4 % 4, k = lane / 16;
    int at = block * 16 + k * 4 + i;
    d[at] = __builtin_amdgcn_mfma_f64_4x4x4f64(a[block * 16 + i * 4 + k], b[at], c[at], 0, 0, kSigns);
}

extern "C" void run_float64(const double* a, const double* b, const double* c, int64_t, int64_t, int64_t, double* d, hipStream_t stream) {
    signs<1><<<1, 64, 0, stream>>>(a, b, c, d);
    signs<2><<<1, 64, 0, stream>>>(a, b, c, d + 64);
    signs<4><<<1, 64, 0, stream>>>(a, b, c, d + 128);
    signs<7><<<1, 64, 0, stream>>>(a, b, c, d + 192);
}
