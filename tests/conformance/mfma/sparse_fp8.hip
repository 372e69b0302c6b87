#include "layout.h"

__global__ void eights(const unsigned char* a, const unsigned char* b, const int* index, const float* c, float* d) {
    auto x = load_a<16, 1, 8, Vector<int, 2>>(a);
    auto y = load_b<16, 1, 16, Vector<int, 4>>(b);
    store_d<16>(__builtin_amdgcn_smfmac_f32_16x16x64_fp8_bf8(x, y, load_c<16, 1>(c), index[threadIdx.x], 0, 0), d);
}

extern "C" void run(const unsigned char* a, const unsigned char* b, const int* index, const float* c, int64_t, int64_t, int64_t,
                    int64_t, float* d, hipStream_t stream) {
    eights<<<1, 64, 0, stream>>>(a, b, index, c, d);
}
