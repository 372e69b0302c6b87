#include <hip/hip_runtime.h>

// What the compiler makes of a division: scaled so that nothing overflows, by a reciprocal, refined, put right.
__global__ void divide(const float* x, const float* y, float* out, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    float a = x[i], b = y[i];
    bool unused, scaled;
    float denominator = __builtin_amdgcn_div_scalef(a, b, false, &unused);
    float numerator = __builtin_amdgcn_div_scalef(a, b, true, &scaled);
    float reciprocal = __builtin_amdgcn_rcpf(denominator);
    reciprocal = fmaf(fmaf(-denominator, reciprocal, 1.0f), reciprocal, reciprocal);
    float quotient = numerator * reciprocal;
    quotient = fmaf(fmaf(-denominator, quotient, numerator), reciprocal, quotient);
    float error = fmaf(-denominator, quotient, numerator);
    out[i] = __builtin_amdgcn_div_fixupf(__builtin_amdgcn_div_fmasf(error, reciprocal, quotient, scaled), b, a);
}

extern "C" void run(const float* x, const float* y, int64_t n, int64_t, float* out, hipStream_t stream) {
    divide<<<1, 1024, 0, stream>>>(x, y, out, n);
}
