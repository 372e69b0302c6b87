#include <hip/hip_runtime.h>

__global__ void parts(const float* x, float* out, int* exponents, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    int exponent;
    out[i] = frexpf(x[i], &exponent);
    exponents[i] = exponent;
    exponents[n + i] = ilogbf(x[i]);
    out[n + i] = ldexpf(x[i], -3);
    out[2 * n + i] = scalbnf(x[i], 7);
    out[3 * n + i] = logbf(x[i]);
    out[4 * n + i] = nextafterf(x[i], 1000.0f);
    float whole;
    out[5 * n + i] = modff(x[i], &whole);
    out[6 * n + i] = whole;
}

extern "C" void run(const float* x, int64_t n, float* out, int* exponents, hipStream_t stream) {
    parts<<<1, 256, 0, stream>>>(x, out, exponents, n);
}
