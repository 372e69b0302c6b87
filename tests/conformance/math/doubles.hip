#include <hip/hip_runtime.h>

__global__ void values(const double* xs, const double* ys, double* out, int64_t n) {
    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = xs[i];
    double y = ys[i];
    out[i] = exp(x);
    out[n + i] = log(fabs(x));
    out[2 * n + i] = pow(fabs(x), y);
    out[3 * n + i] = sin(x);
    out[4 * n + i] = tan(x);
    out[5 * n + i] = atan2(x, y);
    out[6 * n + i] = tanh(x);
    out[7 * n + i] = expm1(y);
    out[8 * n + i] = erf(y);
    out[9 * n + i] = erfc(x / 4);
    out[10 * n + i] = tgamma(fabs(y) + 1);
    out[11 * n + i] = cbrt(x);
    out[12 * n + i] = hypot(x, y);
    out[13 * n + i] = rsqrt(fabs(x));
    out[14 * n + i] = log1p(fabs(y));
    out[15 * n + i] = erfinv(y);
    out[16 * n + i] = normcdf(y);
    out[17 * n + i] = exp10(y);
    out[18 * n + i] = sinpi(y);
    out[19 * n + i] = acosh(1 + fabs(x));
}

extern "C" void run_float64(const double* xs, const double* ys, int64_t n, int64_t, double* out, hipStream_t stream) {
    values<<<(n + 63) / 64, 64, 0, stream>>>(xs, ys, out, n);
}
