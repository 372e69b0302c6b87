#include "layout.h"

// Matrix instructions read all 64 lanes, also those that a block of 32 threads does not have.
__global__ void half(const float* x, float* d) {
    Vector<float, 4> sum = {};
    d[threadIdx.x] = __builtin_amdgcn_mfma_f32_16x16x4f32(x[threadIdx.x], x[threadIdx.x], sum, 0, 0, 0)[0];
}

extern "C" void run(const float* x, int64_t, float* d, hipStream_t stream) { half<<<1, 32, 0, stream>>>(x, d); }
