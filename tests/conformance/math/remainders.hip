#include <hip/hip_runtime.h>

__global__ void remainders(const float* x, const float* y, float* out, int* quotients, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    out[i] = fmodf(x[i], y[i]);
    out[n + i] = remainderf(x[i], y[i]);
    int quotient;
    out[2 * n + i] = remquof(x[i], y[i], &quotient);
    quotients[i] = quotient & 7;
    double whole;
    out[3 * n + i] = (float)modf((double)x[i], &whole);
    out[4 * n + i] = (float)whole;
    out[5 * n + i] = (float)fmod((double)x[i], (double)y[i]);
}

extern "C" void run(const float* x, const float* y, int64_t n, int64_t, float* out, int* quotients, hipStream_t stream) {
    remainders<<<1, 256, 0, stream>>>(x, y, out, quotients, n);
}
