#include "layout.h"

// Rows of D are dealt out one by one: value v of lane l is in row 4 v + l / 16.
__global__ void single(const double* a, const double* b, const double* c, double* d) {
    int lane = threadIdx.x;
    Vector<double, 4> sum;
    for (int v = 0; v < 4; v++) sum[v] = c[(4 * v + lane / 16) * 16 + lane % 16];
    sum = __builtin_amdgcn_mfma_f64_16x16x4f64(a[lane % 16 * 4 + lane / 16], b[lane / 16 * 16 + lane % 16], sum, 0, 0, 0);
    for (int v = 0; v < 4; v++) d[(4 * v + lane / 16) * 16 + lane % 16] = sum[v];
}

// Four products of 4 x 4: lane 16 k + 4 block + i.
__global__ void blocks(const double* a, const double* b, const double* c, double* d) {
    int lane = threadIdx.x, i = lane % 4, block = lane / 4 % 4, k = lane / 16;
    int at = block * 16 + k * 4 + i;
    d[at] = __builtin_amdgcn_mfma_f64_4x4x4f64(a[block * 16 + i * 4 + k], b[at], c[at], 0, 0, 0);
}

extern "C" void run_float64(const double* a, const double* b, const double* c, int64_t, int64_t, int64_t, double* d,
                            hipStream_t stream) {
    Series<double, double> series{a, b, c, d, stream};
    series.run(single, 16, 1, 4);
    series.run(blocks, 4, 4, 4);
}
