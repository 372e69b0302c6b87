#include <hip/hip_runtime.h>

// In double precision the instruction is good to 24 bits; two steps of Newton's method make it good to 52.
__global__ void reciprocal(const double* x, int* out, double* refined, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    double r = __builtin_amdgcn_rcp(x[i]);
    out[i] = (fabs(fma(x[i], r, -1.0)) < 0x1p-22) | (r == 1.0 / x[i]) << 1;
    r = fma(fma(-x[i], r, 1.0), r, r);
    refined[i] = fma(fma(-x[i], r, 1.0), r, r);
}

extern "C" void run_float64(const double* x, int64_t n, int* out, double* refined, hipStream_t stream) {
    reciprocal<<<1, 256, 0, stream>>>(x, out, refined, n);
}
