#include "layout.h"

// A is the identity: D shows where each number of B goes, and C is added.
__global__ void identity(const float* b, float* d) {
    int lane = threadIdx.x;
    Vector<float, 16> sum;
    for (int v = 0; v < 16; v++) sum[v] = 10000 * v;
    for (int k = 0; k < 32; k += 2)
        sum = __builtin_amdgcn_mfma_f32_32x32x2f32(lane % 32 == k + lane / 32, b[(k + lane / 32) * 32 + lane % 32], sum, 0, 0, 0);
    for (int v = 0; v < 16; v++) d[v * 64 + lane] = sum[v];
}

extern "C" void run(const float* b, int64_t, int64_t, float* d, hipStream_t stream) { identity<<<1, 64, 0, stream>>>(b, d); }
