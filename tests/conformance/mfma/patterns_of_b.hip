#include "layout.h"

// blgp: lanes take the B of a half, of the next 16 lanes, or of one group of 16.
template <int kPattern>
__global__ void taken(const float* a, const float* b, const float* c, float* d) {
    store_d<4>(__builtin_amdgcn_mfma_f32_4x4x1f32(load_a<4, 16, 1, float>(a), load_b<4, 16, 1, float>(b), load_c<4, 16>(c), 0, 0,
                                                  kPattern), d + (kPattern - 1) * 256);
}

extern "C" void run(const float* a, const float* b, const float* c, int64_t, int64_t, int64_t, float* d, hipStream_t stream) {
    taken<1><<<1, 64, 0, stream>>>(a, b, c, d);
    taken<2><<<1, 64, 0, stream>>>(a, b, c, d);
    taken<3><<<1, 64, 0, stream>>>(a, b, c, d);
    taken<4><<<1, 64, 0, stream>>>(a, b, c, d);
    taken<5><<<1, 64, 0, stream>>>(a, b, c, d);
    taken<6><<<1, 64, 0, stream>>>(a, b, c, d);
    taken<7><<<1, 64, 0, stream>>>(a, b, c, d);
}
