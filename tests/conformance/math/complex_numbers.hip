#include <hip/hip_complex.h>
#include <hip/hip_runtime.h>

__global__ void complex(const hipFloatComplex* x, const hipFloatComplex* y, hipFloatComplex* out, float* sizes, int64_t n) {
    int64_t i = threadIdx.x;
    if (i >= n) return;
    out[i] = hipCmulf(x[i], y[i]);
    out[n + i] = hipCdivf(x[i], y[i]);
    out[2 * n + i] = hipCaddf(hipConjf(x[i]), make_hipFloatComplex(1, 2));
    sizes[i] = hipCabsf(x[i]);
}

extern "C" void run(const float* x, const float* y, int64_t n, int64_t, float* out, float* sizes, hipStream_t stream) {
    complex<<<1, 256, 0, stream>>>((const hipFloatComplex*)x, (const hipFloatComplex*)y, (hipFloatComplex*)out, sizes, n / 2);
}
