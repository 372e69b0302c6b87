#include "layout.h"

__global__ void bytes(const signed char* a, const signed char* b, const int* index, const int* c, int* d) {
    auto x = load_a<32, 1, 8, Vector<int, 2>>(a);
    auto y = load_b<32, 1, 16, Vector<int, 4>>(b);
    store_d<32>(__builtin_amdgcn_smfmac_i32_32x32x32_i8(x, y, load_c<32, 1>(c), index[threadIdx.x], 0, 1), d);
}

extern "C" void run(const signed char* a, const signed char* b, const int* index, const int* c, int64_t, int64_t, int64_t, int64_t, int* d, hipStream_t stream) {
    bytes<<<1, 64, 0, stream>>>(a, b, index, c, d);
}
