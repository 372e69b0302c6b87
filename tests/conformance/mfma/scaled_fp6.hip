#include "layout.h"

__global__ void sixes(const float* x, float* d) {
    Vector<int, 8> a = {};
    Vector<float, 4> sum = {x[threadIdx.x]};
    d[threadIdx.x] = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, a, sum, 2, 2, 0, 127, 0, 127)[0];
}

extern "C" void run(const float* x, int64_t, float* d, hipStream_t stream) { sixes<<<1, 64, 0, stream>>>(x, d); }
